"""How people are told: one module per channel, and which one an address belongs to.

A channel has three functions: ``check(address)`` returns the address as it is stored, or raises Django's
ValidationError; ``send(alert)`` and ``ask(confirmation)`` raise RefusedError or UnavailableError.
"""

from types import ModuleType

from benchdash.alerts.channels import email


def channel_of(address: str) -> ModuleType:  # noqa: ARG001 - e-mail is the only channel so far
    """Return the channel that delivers to the address."""
    return email
