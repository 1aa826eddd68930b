"""The figures of `rtctl bench core`: rt's own, then its peers', a JSON line each.

    python scripts/peers/core.py [--quick] [--only PEER] [--programs FOLDER]

Where rt has the figure too, a peer's line holds it as "rt", and "ratio" is the peer's value over it. rt's program is
build/release/bin/rtctl, or what the environment names as RTCTL. Each peer runs with its own settings as they come, its
called actors in processes of their own; core.light_create alone has all in one. core.call_async has 1,000 calls of one
caller to one actor under way; core.call_async_2x2 as many of each of two callers, who take turns with two actors;
core.send ends when the last message was handled. What a peer can't do is said on standard error, the rest of what it
says there is in build/logs.
"""

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).parent
LIMIT_S = 150  # no peer is waited for longer


def commands(programs):
    """Peer, what must be there for it, and its command."""
    return (
        ("ray", importable("ray"), [sys.executable, HERE / "core_ray.py"]),
        ("ray-cpp", (programs / "core_ray").exists(), [sys.executable, HERE / "core_ray.py", "--cpp", programs]),
        ("xoscar", importable("xoscar"), [sys.executable, HERE / "core_xoscar.py"]),
        ("caf", (programs / "core_caf").exists(), [programs / "core_caf"]),
    )


def importable(name):
    return importlib.util.find_spec(name) is not None


def say(text):
    print(text, file=sys.stderr, flush=True)


def stop(process):
    """The process and its group, where it hasn't ended."""
    for end in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, end)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                pass


def figures(name, command, log):
    """Yields its lines, read as JSON."""
    with open(log, "w", encoding="utf-8") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
    timer = threading.Timer(LIMIT_S, stop, [process])
    timer.start()
    try:
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
        process.wait()
    finally:
        timer.cancel()
        stop(process)
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in said:
        if " left out: " in line:
            say(line)
    if process.returncode:
        say(f"{name}: ended with {process.returncode} before its last figure, or ran past {LIMIT_S} s. All it said: {log}")
        say("\n".join(f"   | {line}" for line in said[-6:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument("--only", choices=("rt", "ray", "ray-cpp", "xoscar", "caf"), help="rt's lines come with each")
    parser.add_argument("--programs", type=Path, default=Path("build/peers-core"), help="where the C++ programs are")
    options = parser.parse_args()
    logs = Path("build/logs")
    logs.mkdir(parents=True, exist_ok=True)
    quick = ["--quick"] * options.quick

    rtctl = os.environ.get("RTCTL", "build/release/bin/rtctl")
    own = {}
    if Path(rtctl).exists():
        for line in figures("rt", [rtctl, "bench", "core", *quick], logs / "peers-core-rt.log"):
            own[line["name"]] = line["value"]
            print(json.dumps(line), flush=True)
    else:
        say(f"rt: left out: there is no {rtctl}; scripts/quickstart builds it, RTCTL names another")
    for name, is_there, command in commands(options.programs.resolve()):
        if options.only not in (None, name):
            continue
        if not is_there:
            say(f"{name}: left out: it isn't installed, or didn't compile; build/logs/peers-* say why")
            continue
        for line in figures(name, command + quick, logs / f"peers-core-{name}.log"):
            if own.get(line["name"]):
                line |= {"rt": own[line["name"]], "ratio": float(f"{line['value'] / own[line['name']]:.4g}")}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
