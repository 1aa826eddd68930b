"""rt for programs in Python: read a trial's parameters, report, save checkpoints, go on from one. One file, no
dependencies, Python 3.7 or newer; `rtctl tune` puts its folder into PYTHONPATH, or copy it beside your program.

    import rt

    parameters = rt.parameters({"lr": 0.1})        # the defaults, and what the sweep says
    model, start = Model(parameters), 0
    if rt.restore():
        start = model.load(rt.restore())
    for step in range(start + 1, 101):
        loss = model.train()
        if step % 10 == 0:
            with rt.checkpoint(step) as folder:    # becomes a checkpoint when the block has ended well
                model.save(folder, step)
        rt.report(step, loss=loss)                 # names that checkpoint
        if rt.should_stop():
            break

Outside of rt the same program runs too: reports are printed and checkpoints go to ./checkpoints. docs/programs.md is
the contract behind it, for other languages.
"""

import contextlib
import json
import os
import shutil

_new_checkpoint = None  # saved, and not yet named in a report


def parameters(defaults=None):
    """The trial's parameters over `defaults`, as a dict. Nested ones are dicts in it."""
    chosen = dict(defaults or {})
    path = os.environ.get("RT_PARAMETERS")
    if path:
        with open(path, encoding="utf-8") as file:
            chosen.update(json.load(file))
    return chosen


def trial_id():
    """The trial's name in its sweep, e.g. "0007"; None outside of rt."""
    return os.environ.get("RT_TRIAL_ID")


def rank():
    """This process's number in the trial, from 0. Only rank 0's reports count."""
    return int(os.environ.get("RANK", "0"))


def world_size():
    """How many processes the trial has."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def report(step, *, checkpoint=None, **metrics):
    """Reports the metrics (numbers, what float() takes, or None for not a number) of `step`, a whole number that grows
    from report to report: rt.report(3, loss=0.5), or rt.report(3, **metrics) where they are in a dict.

    `checkpoint`: the name of a complete folder below RT_CHECKPOINT_DIR. The one that rt.checkpoint() made since the last
    report is named by itself.
    """
    global _new_checkpoint
    line = {"step": int(step)}
    for name, value in metrics.items():
        if value is None:
            value = float("nan")
        line[name] = value if type(value) in (int, float) else float(value)
    if checkpoint or _new_checkpoint:
        line["checkpoint"] = str(checkpoint or _new_checkpoint)
    text = json.dumps(line)
    path = os.environ.get("RT_REPORT")
    if not path:
        print(text, flush=True)
    else:
        with open(path, "ab", buffering=0) as file:  # one write a line: a reader never sees half of one for long
            file.write(text.encode("utf-8") + b"\n")
    _new_checkpoint = None


@contextlib.contextmanager
def checkpoint(step):
    """Yields an empty folder to save into. When the block ends well, the folder is made durable and gets its name at
    once, so a checkpoint is there whole or not at all; the next report names it. An exception leaves nothing behind.

    In a trial of several ranks let one of them save.
    """
    global _new_checkpoint
    home = os.environ.get("RT_CHECKPOINT_DIR") or "checkpoints"
    partial = os.path.join(home, ".partial-rank-%d" % rank())
    shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
    os.makedirs(partial)
    try:
        yield partial
        _sync_tree(partial)
        name = _unused_name(home, "step-%d" % step)
        os.rename(partial, os.path.join(home, name))
        _sync(home)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _new_checkpoint = name


def restore():
    """The folder of the checkpoint to go on from, or None: start from the beginning."""
    return os.environ.get("RT_RESTORE") or None


def should_stop():
    """Whether the trial shall save and leave. Look at it once a step."""
    path = os.environ.get("RT_STOP_FILE")
    return bool(path) and os.path.exists(path)


def _unused_name(home, name):
    """A step that is done again, after a restart, gets a name of its own: no checkpoint is ever written over."""
    names = [name] + ["%s-%d" % (name, again) for again in range(2, 1000)]
    return next(free for free in names if not os.path.exists(os.path.join(home, free)))


def _sync_tree(folder):
    for path, _, files in os.walk(folder):
        for file in files:
            _sync(os.path.join(path, file))
        _sync(path)


def _sync(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
