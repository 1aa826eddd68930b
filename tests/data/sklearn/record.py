"""Records what scikit-learn's train_test_split gives, as the right values of split.test.cpp.

    python3 -m venv venv && venv/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    venv/bin/python record.py > stratified_split.json
"""

import json
import platform

import numpy
import sklearn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def interleaved(counts):
    """counts[c] labels c, in turn, so that no class's rows lie together."""
    left, labels = list(counts), []
    while any(left):
        for label in range(len(left)):
            if left[label]:
                labels.append(label)
                left[label] -= 1
    return labels


def case(name, test_size, seed):
    labels = LABELS[name]
    train, test = train_test_split(range(len(labels)), test_size=test_size, stratify=labels, random_state=seed)
    return {"name": name, "test_size": test_size, "seed": seed, "train": train, "test": test}


LABELS = {
    "digits": [int(label) for label in load_digits().target],
    "two_of_each": interleaved([2] * 5),
    "ties": interleaved([7] * 4),
    "lopsided": interleaved([3, 50, 2, 101, 17]),
    "one_class": interleaved([11]),
    "labels_with_gaps": [(-3, 5, 900)[label] for label in interleaved([9, 14, 6])],
}
SMALL = [("two_of_each", 0.5), ("ties", 0.2), ("ties", 0.33), ("lopsided", 0.2), ("lopsided", 0.1), ("one_class", 0.2),
         ("labels_with_gaps", 0.25)]

if __name__ == "__main__":
    cases = [case("digits", 0.2, seed) for seed in (0, 1, 2, 7, 42)]
    cases += [case(name, size, seed) for name, size in SMALL for seed in (0, 3, 2**32 - 1)]
    compact = {"separators": (",", ":")}
    print("{")
    print(' "source": "sklearn.model_selection.train_test_split(range(n), test_size=, stratify=labels, random_state=seed); '
          'digits: sklearn.datasets.load_digits().target",')
    versions = {"scikit-learn": sklearn.__version__, "numpy": numpy.__version__, "python": platform.python_version()}
    print(' "versions": ' + json.dumps(versions) + ",")
    print(' "labels": {\n' + ",\n".join(f'  "{k}": {json.dumps(v, **compact)}' for k, v in LABELS.items()) + "\n },")
    print(' "cases": [\n' + ",\n".join("  " + json.dumps(c, **compact) for c in cases) + "\n ]")
    print("}")
