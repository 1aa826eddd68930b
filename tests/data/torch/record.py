"""Records what torch's DistributedSampler gives, as the right values of sampler.test.cpp.

    python3 -m venv venv && venv/bin/pip install torch==2.15.0 numpy
    venv/bin/python record.py > distributed_sampler.json
"""

import json

from torch.utils.data.distributed import DistributedSampler

# rows, ranks, shuffle, seed, drop_last
SETS = [
    (10, 1, True, 0, False),
    (10, 3, True, 7, False),
    (10, 3, True, 7, True),
    (10, 4, False, 0, False),
    (10, 4, False, 0, True),
    (3, 8, True, 2**40, False),
    (1, 4, True, 5, False),
    (11, 2, True, 2**63 + 3, False),
    (37, 2, True, 42, True),
    (30001, 2, True, 1, False),
]


def rows_of(rank, rows, ranks, shuffle, seed, drop_last, epoch):
    sampler = DistributedSampler(range(rows), ranks, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
    sampler.set_epoch(epoch)
    return list(sampler) if rows < 1000 else list(sampler)[:20]


def cases():
    for rows, ranks, shuffle, seed, drop_last in SETS:
        for epoch in (0, 1, 5) if shuffle else (0,):
            case = {"size": rows, "ranks": ranks, "shuffle": shuffle, "seed": seed, "drop_last": drop_last, "epoch": epoch}
            yield case | {"indices": [rows_of(r, rows, ranks, shuffle, seed, drop_last, epoch) for r in range(ranks)]}


print('{"source": "torch.utils.data.distributed.DistributedSampler of torch 2.15.0 (PyPI wheel): list(sampler) of each rank;'
      ' of the set of 30001 rows the first 20", "cases": [')
print(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases()))
print("]}")
