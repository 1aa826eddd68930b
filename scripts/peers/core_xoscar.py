"""The figures of `rtctl bench core` in xoscar. The actors that are called live in sub pools, which are processes.

    python scripts/peers/core_xoscar.py [--quick]
"""

import asyncio
import importlib.metadata
import os
import signal
import time

import uvloop
import xoscar
from core_figure import UNDER_WAY, Figures, median, parser


class Echo(xoscar.Actor):
    def __init__(self):
        self.seen = 0

    def echo(self, value):
        return value

    def one_way(self, value):
        self.seen += 1

    def count(self):
        return self.seen

    def process(self):
        return os.getpid()

    async def nap(self, seconds):
        await asyncio.sleep(seconds)


class Caller(xoscar.Actor):
    async def calls(self, actors, count):
        await many_calls(actors, count)


async def many_calls(actors, count):
    """A thousand under way."""

    async def one_after_another(first):
        for i in range(first, count, UNDER_WAY):
            await actors[i % len(actors)].echo(i)

    await asyncio.gather(*(one_after_another(first) for first in range(min(UNDER_WAY, count))))


async def sync_p50_us(actor, count, idle):
    times = []
    for _ in range(count):
        if idle:
            time.sleep(idle)
        begin = time.perf_counter()
        await actor.echo(1)
        times.append(1e6 * (time.perf_counter() - begin))
    return median(times)


async def calls(figures, address):
    actor = await xoscar.create_actor(Echo, address=address)
    await sync_p50_us(actor, figures.rounds(500), 0)
    figures.line("core.call_sync_hot_p50", await sync_p50_us(actor, figures.rounds(5000), 0), "us")
    figures.line("core.call_sync_cold_p50", await sync_p50_us(actor, figures.rounds(500), 0.001), "us")
    count = figures.rounds(5_000, least=UNDER_WAY)
    begin = time.perf_counter()
    await many_calls([actor], count)
    figures.line("core.call_async", count / (time.perf_counter() - begin), "1/s")
    begin = time.perf_counter()
    for i in range(count):
        await actor.one_way.tell(i)
    while await actor.count() < count:
        pass
    figures.line("core.send", count / (time.perf_counter() - begin), "1/s")
    await xoscar.destroy_actor(actor)


async def calls_2x2(figures, addresses):
    actors = [await xoscar.create_actor(Echo, address=address) for address in addresses[:2]]
    callers = [await xoscar.create_actor(Caller, address=address) for address in addresses[2:]]
    await asyncio.gather(*(caller.calls(actors, UNDER_WAY) for caller in callers))
    count = figures.rounds(5_000, least=UNDER_WAY)
    begin = time.perf_counter()
    await asyncio.gather(*(caller.calls(actors, count) for caller in callers))
    figures.line("core.call_async_2x2", 2 * count / (time.perf_counter() - begin), "1/s", caller_processes=2)


async def actor_creates(figures, pool):
    """Each in a new sub pool, as a sub pool is xoscar's process."""
    count = figures.rounds(6)
    times = []
    begin = time.perf_counter()
    for _ in range(count):
        one = time.perf_counter()
        address = await pool.append_sub_pool()
        actor = await xoscar.create_actor(Echo, address=address)
        await actor.echo(1)
        times.append(1e3 * (time.perf_counter() - one))
        await pool.remove_sub_pool(address, force=True)
    figures.line("core.actor_create", count / (time.perf_counter() - begin), "1/s", actors=count)
    figures.line("core.actor_create_p50", median(times), "ms", actors=count)


async def light_creates(figures, pool):
    count = figures.rounds(5000)
    begin = time.perf_counter()
    for _ in range(count):
        actor = await xoscar.create_actor(Echo, address=pool.external_address)
        await actor.echo(1)
        await xoscar.destroy_actor(actor)
    figures.line("core.light_create", count / (time.perf_counter() - begin), "1/s")


async def kill_to_error_ms(pool):
    """With a call under way: from the kill to its error."""
    address = await pool.append_sub_pool()
    actor = await xoscar.create_actor(Echo, address=address)
    process = await actor.process()
    under_way = asyncio.create_task(actor.nap(60))
    await asyncio.sleep(0.05)
    begin = time.perf_counter()
    os.kill(process, signal.SIGKILL)
    try:
        await under_way
    except xoscar.errors.ServerClosed:
        return 1e3 * (time.perf_counter() - begin)
    finally:
        await pool.remove_sub_pool(address, force=True)
    raise RuntimeError("the call of an actor that was killed has ended well")


async def kill_to_restart_ms(address):
    """From the kill to the first answer out of the new process; the caller asks again after each error."""
    actor = await xoscar.create_actor(Echo, address=address)
    process = after = await actor.process()
    begin = time.perf_counter()
    os.kill(process, signal.SIGKILL)
    while after == process:
        try:
            after = await actor.process()
        except (OSError, xoscar.errors.XoscarError):
            await asyncio.sleep(0.001)
    took = 1e3 * (time.perf_counter() - begin)
    await xoscar.destroy_actor(actor)
    return took


async def run(figures):
    pool = await xoscar.create_actor_pool("127.0.0.1", n_process=4, auto_recover=False)
    async with pool:
        addresses = list(pool.sub_processes)
        await calls(figures, addresses[0])
        await calls_2x2(figures, addresses)
    pool = await xoscar.create_actor_pool("127.0.0.1", n_process=1, auto_recover=False)
    async with pool:
        await actor_creates(figures, pool)
        await light_creates(figures, pool)
        times = [await kill_to_error_ms(pool) for _ in range(figures.rounds(3))]
        figures.line("core.kill_to_error", median(times), "ms")
    pool = await xoscar.create_actor_pool("127.0.0.1", n_process=1, auto_recover="actor")
    async with pool:
        times = [await kill_to_restart_ms(list(pool.sub_processes)[0]) for _ in range(figures.rounds(3))]
        figures.line("core.kill_to_restart", median(times), "ms")


if __name__ == "__main__":
    uvloop.run(run(Figures(f"xoscar {importlib.metadata.version('xoscar')}", parser(__doc__).parse_args().quick)))
