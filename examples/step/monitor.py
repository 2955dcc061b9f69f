"""Monitors HTTP proxies with the Outwatch engine, in Python. See docs/STEPPING.md.

    python3 monitor.py ENGINE.wasm direct home=http://192.0.2.7:3128

ENGINE.wasm is the component of the world `monitor-step`, as `cargo xtask component` makes
it. Needs Python 3.11 and the package `wasmtime`.
"""

import argparse
import asyncio
import random
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from exchange import ERRORS, Exchange
from stepping import Stepping, Variant, now, record


class Host:
    def __init__(self, arguments):
        self.engine = Stepping(arguments.engine)
        self.proxies = dict(arguments.outbounds)
        self.database = sqlite3.connect(arguments.cache)
        self.database.execute("create table if not exists pair (key text primary key, value blob)")
        self.inputs, self.happened = [], asyncio.Event()
        self.probes, self.threads = {}, ThreadPoolExecutor(64)
        setup = record(
            options=arguments.options,
            outbounds=[outbound(tag, proxy) for tag, proxy in self.proxies.items()],
            selections=[],
            saved=self.database.execute("select key, value from pair").fetchall(),
            seed=random.getrandbits(64),
        )
        opened = self.engine.open(setup, now())
        for problem in opened.payload:
            print(f"options: {problem.path}: {problem.message}", flush=True)
        if opened.tag == "err":
            raise SystemExit(1)
        self.tell("subscribe", record(subscriber=1, scope=Variant("all"), view="confirmed"))

    async def run(self):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self.tell, "stop")
        self.attend()
        while True:
            inputs, self.inputs = self.inputs, []
            self.happened.clear()
            outcome = vars(self.engine.step(now(), inputs))
            for action in outcome["actions"]:
                if action.tag == "stopped":
                    return
                getattr(self, action.tag)(action.payload)
            wake_at = outcome["wake-at"]
            wait = None if wake_at is None else max(0, wake_at - time.monotonic_ns()) / 1e9
            try:
                await asyncio.wait_for(self.happened.wait(), wait)
            except TimeoutError:
                pass

    def tell(self, what, payload=None):
        """Something happened: an input of the next step."""
        self.inputs.append(Variant(what, payload))
        self.happened.set()

    def attend(self):
        """Somebody looks for as long as this runs; without users the engine rests."""
        self.tell("activity")
        asyncio.get_running_loop().call_later(60, self.attend)

    # What the engine asks for: one method for each action.

    def probe(self, probe):
        self.probes[probe.id] = asyncio.create_task(self.fetch(probe))

    def cancel(self, probe):
        if probe in self.probes:
            self.probes.pop(probe).cancel()

    def publish(self, update):
        for report in map(vars, update.reports):
            error, ip = report["error"], report["ip"]
            words = [f"{report['delay-ms']} ms"] if report["delay-ms"] else []
            words += [f"{error.kind}: {error.text}"] if error else []
            words += [ip.ip] if ip else []
            print(report["tag"], report["state"], *words, flush=True)
        self.tell("taken", update.subscriber)

    def save(self, save):
        with self.database:
            self.database.executemany("delete from pair where key = ?", [(k,) for k in save.delete])
            self.database.executemany("replace into pair values (?, ?)", save.set)

    def log(self, line):
        print(line.level, line.text, flush=True)

    async def fetch(self, probe):
        exchange = Exchange(self.proxies[probe.tag], vars(probe.request))
        run = asyncio.get_running_loop().run_in_executor(self.threads, exchange.run)
        try:
            answer = await asyncio.wait_for(run, probe.request.deadline / 1e9)
            outcome = Variant("answered", record(**answer))
        except ERRORS as error:
            text = str(error) or "no answer in time"
            outcome = Variant("failed", record(kind=exchange.kind(error), text=text))
        finally:
            exchange.close()
        # Canceled at the last moment: nobody waits for it.
        if self.probes.pop(probe.id, None):
            self.tell("probe-ended", record(probe=probe.id, outcome=outcome))


def tagged(text):
    """A tag and its proxy, which is empty for the direct way."""
    tag, equals, proxy = text.partition("=")
    address = urlsplit(proxy)
    if equals and (address.scheme != "http" or not address.hostname or address.username):
        raise argparse.ArgumentTypeError(f"the proxy of {tag} is not of the form http://HOST:PORT")
    return tag, proxy


def outbound(tag, proxy):
    return record(
        tag=tag,
        type_name="http" if proxy else "direct",
        kind="outbound",
        detour=None,
        members=[],
        networks=["tcp"],
        fingerprint=proxy,
        flags=set() if proxy else {"exit-follows-host"},
    )


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", help="the component")
    parser.add_argument("outbounds", nargs="+", type=tagged, metavar="TAG[=PROXY]")
    parser.add_argument("--options", default="{}", help="the monitoring block, JSON")
    parser.add_argument("--cache", default=":memory:", help="the file of saved results")
    await Host(parser.parse_args()).run()


asyncio.run(main())
