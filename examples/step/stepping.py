"""The engine: the interface `stepping` of wit/step.wit as a Python object.

It must not know what a host does with an action.
"""

import time
from types import SimpleNamespace

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker, Variant

__all__ = ["Stepping", "Variant", "now", "record"]


class Stepping:
    """Each function of the interface is a method: `open`, `step`, `reports`, ..."""

    def __init__(self, path):
        engine = Engine()
        self._store = Store(engine)
        # The component calls nothing, so that there is nothing to link.
        linker = Linker(engine)
        self._instance = linker.instantiate(self._store, Component.from_file(engine, path))
        self._interface = self._index("outwatch:monitor/stepping@0.1.0")

    def __getattr__(self, name):
        function = self._instance.get_func(self._store, self._index(name, self._interface))
        return lambda *arguments: function(self._store, *arguments)

    def _index(self, name, interface=None):
        index = self._instance.get_export_index(self._store, name, interface)
        if index is None:
            raise AttributeError(f"the component does not export {name}")
        return index


def record(**fields):
    """A record of the contract, with `_` for the `-` in its fields' names."""
    return SimpleNamespace(**{name.replace("_", "-"): value for name, value in fields.items()})


def now():
    """Both clocks at this moment."""
    return record(mono=time.monotonic_ns(), wall=time.time_ns() // 1_000_000)
