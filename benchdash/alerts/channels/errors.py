"""Why a channel did not deliver."""


class RefusedError(Exception):
    """One message or address was refused; others may go through."""


class UnavailableError(Exception):
    """The server delivers nothing now; the others at it would wait for it too, each until it times out."""
