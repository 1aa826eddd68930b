"""train.ddp_step_gloo in PyTorch's Python DDP: the step of rtctl/torch/training_step.h, with the same pinning, threads and
optimizer. Prints one JSON line.

    python scripts/peers/ddp.py [--steps 40] [--rounds 75]
"""

import argparse
import json
import os
import statistics
import tempfile
import time

import torch
import torch.distributed
import torch.multiprocessing

RANKS = 2


def run_rank(rank, store, steps, rounds):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)

    model = torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
    parallel = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)
    images, labels = torch.rand(64, 784), torch.randint(10, (64,))

    def rate(count):
        torch.distributed.barrier()
        start = time.perf_counter()
        for _ in range(count):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(parallel(images), labels).backward()
            optimizer.step()
        return count / (time.perf_counter() - start)

    rate(20)  # buckets are laid out, caches are warm
    rates = [rate(steps) for _ in range(rounds)]
    if rank == 0:
        line = {"name": "train.ddp_step_gloo", "value": statistics.median(rates), "unit": "1/s"}
        print(json.dumps({**line, "peer": f"torch {torch.__version__.split('+')[0]} DDP"}), flush=True)
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40, help="steps of a round")
    parser.add_argument("--rounds", type=int, default=75, help="rounds; the figure is their median")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments = (os.path.join(folder, "store"), options.steps, options.rounds)
        torch.multiprocessing.spawn(run_rank, arguments, nprocs=RANKS)


if __name__ == "__main__":
    main()
