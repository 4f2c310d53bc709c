"""How people are told: one module per channel, found by being here.

A channel has five functions: ``handles(address)`` tells whether it delivers to addresses of this form;
``check(address)`` returns the address as it is stored, or raises Django's ValidationError;
``server_of(address)`` names the server that delivers to it, so that the others wait while that is down;
``send(alert)`` and ``ask(confirmation)`` raise RefusedError or UnavailableError.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType


def channel_of(address: str) -> ModuleType:
    """Return the channel that delivers to the address, or e-mail, which refuses what no channel handles."""
    channels = _channels()
    return next((channel for channel in channels.values() if channel.handles(address)), channels["email"])


@cache
def _channels() -> dict[str, ModuleType]:
    names = [found.name for found in pkgutil.iter_modules(__path__)]
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "handles")}
