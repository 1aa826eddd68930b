"""Learns to tell two half-moons of points apart with a network of one hidden layer, written out by hand.

A trial in plain Python: it reads its parameters, reports each epoch, saves every third one and when it is asked to stop,
and goes on from a checkpoint to the bit. Run it by itself too: python3 train.py (with rt.py's folder in PYTHONPATH).
"""

import json
import math
import os
import random

import rt

DEFAULTS = {"lr": 0.3, "hidden": 8, "epochs": 27, "noise": 0.2, "seed": 1}
SAVE_EVERY = 3  # epochs


def two_moons(count, noise, rng):
    """Points (x, y, label): two interleaved half circles, blurred."""
    points = []
    for i in range(count):
        angle, label = math.pi * rng.random(), i % 2
        x, y = math.cos(angle), math.sin(angle)
        if label:
            x, y = 1.0 - x, 0.5 - y
        points.append((x + rng.gauss(0.0, noise), y + rng.gauss(0.0, noise), label))
    return points


class Network:
    """sigmoid(b + v . tanh(W (x, y, 1))), trained by plain stochastic gradient descent on the logistic loss."""

    def __init__(self, hidden, rng):
        self.units = [[rng.gauss(0.0, 1.0) for _ in range(3)] for _ in range(hidden)]
        self.out = [rng.gauss(0.0, 1.0) / math.sqrt(hidden) for _ in range(hidden)]
        self.bias = 0.0

    def forward(self, x, y):
        active = [math.tanh(a * x + b * y + c) for a, b, c in self.units]
        total = self.bias + sum(v * h for v, h in zip(self.out, active))
        return active, 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))

    def learn(self, x, y, label, lr):
        active, chance = self.forward(x, y)
        slope = lr * (chance - label)
        self.bias -= slope
        for i, h in enumerate(active):
            back = slope * self.out[i] * (1.0 - h * h)
            self.out[i] -= slope * h
            unit = self.units[i]
            unit[0] -= back * x
            unit[1] -= back * y
            unit[2] -= back


def score(network, points):
    """Mean logistic loss, and the part of the points that is told right."""
    loss, right = 0.0, 0
    for x, y, label in points:
        chance = network.forward(x, y)[1]
        loss -= math.log(max(1e-12, chance if label else 1.0 - chance))
        right += (chance > 0.5) == bool(label)
    return loss / len(points), right / len(points)


def save(network, epoch):
    with rt.checkpoint(epoch) as folder:
        with open(os.path.join(folder, "network.json"), "w", encoding="utf-8") as file:
            json.dump({"epoch": epoch, "network": vars(network)}, file)  # floats are written so that they come back equal


def load(network, folder):
    with open(os.path.join(folder, "network.json"), encoding="utf-8") as file:
        saved = json.load(file)
    vars(network).update(saved["network"])
    return saved["epoch"]


def main():
    parameters = rt.parameters(DEFAULTS)
    seed = parameters["seed"]
    rng = random.Random(seed)
    train = two_moons(200, parameters["noise"], rng)
    test = two_moons(200, parameters["noise"], rng)
    network = Network(parameters["hidden"], rng)
    done = load(network, rt.restore()) if rt.restore() else 0

    for epoch in range(done + 1, parameters["epochs"] + 1):
        # The order hangs on seed and epoch alone, so there is no random state to save.
        order = random.Random(1000003 * seed + epoch).sample(train, len(train))
        for x, y, label in order:
            network.learn(x, y, label, parameters["lr"])
        loss, accuracy = score(network, test)
        leaving = rt.should_stop()
        if leaving or epoch % SAVE_EVERY == 0:
            save(network, epoch)
        rt.report(epoch, loss=loss, accuracy=accuracy)
        if leaving:
            break


if __name__ == "__main__":
    main()
