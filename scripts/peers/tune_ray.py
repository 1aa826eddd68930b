"""Ray Tune on the tuner's two figures: trials that do nothing, and 320 trials of one second on 16 slots.

Prints a JSON line a figure, under the names that `rtctl bench tune` prints. A trial is one reported step. As rt's clock
does, Ray's starts at the first trial's start and ends at the last result; starting Ray itself isn't counted.
"""

import argparse
import json
import logging
import os
import time

os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
os.environ.setdefault("RAY_CHDIR_TO_TRIAL_DIR", "0")
os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")

import ray
from ray import tune

SLOTS = 16


class Trial(tune.Trainable):
    """Sleeps for `seconds`, reports once, is done. Can take the next trial into the same actor."""

    def setup(self, config):
        self.seconds = config["seconds"]

    def step(self):
        time.sleep(self.seconds)
        return {"score": 1.0, "done": True}

    def reset_config(self, config):
        self.setup(config)
        return True

    def save_checkpoint(self, directory):
        return None


class Clock(tune.Callback):
    """From the first trial's start to the last trial's end."""

    started = ended = None

    def on_trial_start(self, **_):
        self.started = self.started or time.perf_counter()

    def on_trial_complete(self, **_):
        self.ended = time.perf_counter()


def seconds_for(trials, seconds, reuse):
    clock = Clock()
    tuner = tune.Tuner(
        tune.with_resources(Trial, {"cpu": 1}),
        param_space={"seconds": seconds, "trial": tune.grid_search(list(range(trials)))},
        tune_config=tune.TuneConfig(reuse_actors=reuse),
        run_config=tune.RunConfig(verbose=0, callbacks=[clock]),
    )
    results = tuner.fit()
    if len(results) != trials or results.errors:
        raise RuntimeError(f"{trials} trials were asked for, {len(results)} came back, {len(results.errors)} failed")
    return clock.ended - clock.started


def line(name, value, unit, **facts):
    print(json.dumps({"name": name, "value": round(value, 3), "unit": unit, "peer": f"ray {ray.__version__}", **facts}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the trials")
    scale = 10 if parser.parse_args().quick else 1

    ray.init(num_cpus=SLOTS, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    for reuse, trials in ((False, 64), (True, 320)):
        trials = max(trials // scale, SLOTS)
        line("tune.noop_trials", trials / seconds_for(trials, 0, reuse), "1/s", trials=trials, reuse_actors=reuse)
    for reuse, trials in ((True, 320), (False, 64)):  # a process for each trial: 64 take as long as 320 do otherwise
        trials = max(trials // scale, SLOTS)
        line(f"tune.sleep{trials}_16slots", seconds_for(trials, 1, reuse), "s", trials=trials, reuse_actors=reuse)


if __name__ == "__main__":
    main()
