"""A trial for the tests: counts, saves every second step, and does what its parameters say.

fall: what happens at step `fall_step` of the first generation ("always": of each): "exit" with code 7, "kill" by signal 9,
"worker": its worker is killed by signal 9. daemon: leaves a process in a session of its own that has no parent here.
ballast_kib: how much a checkpoint is larger. wait: after the last step it goes on until it is asked to stop; then rank 0
waits `linger` seconds and makes `parting` reports more.
"""

import os
import signal
import time

import rt

p = rt.parameters()
first = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
done = 0
if rt.restore():
    with open(os.path.join(rt.restore(), "count"), encoding="utf-8") as file:
        done = int(file.read())
    print("restored", done, flush=True)

if p.get("daemon") and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)


def save(step):
    with rt.checkpoint(step) as folder:
        with open(os.path.join(folder, "count"), "w", encoding="utf-8") as file:
            file.write(str(step))
        with open(os.path.join(folder, "ballast"), "wb") as file:
            file.write(bytes(p.get("ballast_kib", 0) << 10))


def fall():
    print("last words", flush=True)
    if p["fall"] == "worker":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    if p["fall"] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(7)


step = done
while step < p["steps"] or p.get("wait"):
    step += 1
    if p.get("fall") and step == p["fall_step"] and (first or p.get("always")):
        fall()
    leaving = rt.should_stop()
    if leaving and rt.rank() == 0:
        time.sleep(p.get("linger", 0))
        for _ in range(p.get("parting", 0)):
            rt.report(step, score=p["gain"] * step)
            step += 1
    if rt.rank() == 0 and (step % 2 == 0 or leaving):
        save(step)
    rt.report(step, score=p["gain"] * step)
    if leaving:
        print("asked to stop at", step, flush=True)
        break
    time.sleep(0.001 if step < p["steps"] else 0.02)
