"""The figures of `rtctl bench core` in Ray: its Python API, or with --cpp its C++ API (scripts/peers/core_ray.cpp).

    python scripts/peers/core_ray.py [--quick] [--cpp FOLDER]      where core_ray and core_ray.so are

Ray's node is a fresh one either way, with Ray's own settings. The C++ program is given its address: one that starts Ray
itself ends every Ray on the machine when it leaves.
"""

import logging
import os
import signal
import subprocess
import sys
import time

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a change to come

import ray
from core_figure import UNDER_WAY, Figures, median, parser


@ray.remote
class Echo:
    def echo(self, value):
        return value

    def process(self):
        return os.getpid()

    def nap(self, seconds):
        time.sleep(seconds)


@ray.remote
class Caller:
    def calls(self, actors, count):
        many_calls(actors, count)


def many_calls(actors, count):
    """A thousand under way, in two halves: while one is waited for, the other is being worked on."""
    half = UNDER_WAY // 2
    older = []
    for _ in range(count // half):
        newer = [actors[i % len(actors)].echo.remote(i) for i in range(half)]
        ray.get(older)
        older = newer
    ray.get(older)


def sync_p50_us(actor, count, idle):
    times = []
    for _ in range(count):
        if idle:
            time.sleep(idle)
        begin = time.perf_counter()
        ray.get(actor.echo.remote(1))
        times.append(1e6 * (time.perf_counter() - begin))
    return median(times)


def calls(figures):
    actor = Echo.remote()
    sync_p50_us(actor, figures.rounds(500), 0)
    figures.line("core.call_sync_hot_p50", sync_p50_us(actor, figures.rounds(3000), 0), "us")
    figures.line("core.call_sync_cold_p50", sync_p50_us(actor, figures.rounds(500), 0.001), "us")
    count = figures.rounds(5_000, least=UNDER_WAY)
    begin = time.perf_counter()
    many_calls([actor], count)
    figures.line("core.call_async", count / (time.perf_counter() - begin), "1/s")
    ray.kill(actor)


def calls_2x2(figures):
    actors = [Echo.remote() for _ in range(2)]
    callers = [Caller.remote() for _ in range(2)]
    ray.get([caller.calls.remote(actors, 1000) for caller in callers])
    count = figures.rounds(5_000, least=UNDER_WAY)
    begin = time.perf_counter()
    ray.get([caller.calls.remote(actors, count) for caller in callers])
    figures.line("core.call_async_2x2", 2 * count / (time.perf_counter() - begin), "1/s", caller_processes=2)
    for one in actors + callers:
        ray.kill(one)


def creates(figures):
    count = figures.rounds(8)
    ray.get(Echo.remote().echo.remote(1))
    times = []
    begin = time.perf_counter()
    for _ in range(count):
        one = time.perf_counter()
        actor = Echo.remote()
        ray.get(actor.echo.remote(1))
        times.append(1e3 * (time.perf_counter() - one))
        ray.kill(actor)
    figures.line("core.actor_create", count / (time.perf_counter() - begin), "1/s", actors=count)
    figures.line("core.actor_create_p50", median(times), "ms", actors=count)


def kill_to_error_ms():
    """With a call under way: from the kill to its error."""
    actor = Echo.remote()
    process = ray.get(actor.process.remote())
    under_way = actor.nap.remote(60)
    time.sleep(0.05)
    begin = time.perf_counter()
    os.kill(process, signal.SIGKILL)
    try:
        ray.get(under_way)
    except ray.exceptions.RayActorError:
        return 1e3 * (time.perf_counter() - begin)
    raise RuntimeError("the call of an actor that was killed has ended well")


def kill_to_restart_ms():
    """From the kill to the first answer out of the new process; Ray itself makes the call again."""
    actor = Echo.options(max_restarts=1, max_task_retries=-1).remote()
    process = ray.get(actor.process.remote())
    begin = time.perf_counter()
    os.kill(process, signal.SIGKILL)
    after = ray.get(actor.process.remote())
    while after == process:  # answered before the kill was carried out
        after = ray.get(actor.process.remote())
    took = 1e3 * (time.perf_counter() - begin)
    ray.kill(actor)
    return took


def main():
    options = parser(__doc__)
    options.add_argument("--cpp", metavar="FOLDER", help="run the C++ program in this folder")
    options = options.parse_args()
    node = ray.init(include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    if options.cpp:
        command = [f"{options.cpp}/core_ray", node.address_info["address"], f"{options.cpp}/core_ray.so", ray.__version__]
        return subprocess.run(command + ["--quick"] * options.quick, check=False).returncode
    figures = Figures(f"ray {ray.__version__}", options.quick)
    figures.left_out("core.send", "each of its calls has a result")
    figures.left_out("core.light_create", "each of its actors is a process")
    calls(figures)
    calls_2x2(figures)
    creates(figures)
    for name, once, count in (("core.kill_to_error", kill_to_error_ms, 5), ("core.kill_to_restart", kill_to_restart_ms, 3)):
        figures.line(name, median([once() for _ in range(figures.rounds(count))]), "ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
