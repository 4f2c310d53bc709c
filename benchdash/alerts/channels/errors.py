"""Why a channel did not deliver."""


class RefusedError(Exception):
    """One message or address was refused; others may go through."""


class UnavailableError(Exception):
    """Nothing can be delivered now; the others would wait for the same server, each until it times out."""
