"""Why a channel did not deliver."""


class RefusedError(Exception):
    """One message or address was refused; others may go through.

    ``is_permanent`` where the receiving side said that it will not change its mind.
    """

    def __init__(self, words: str, *, is_permanent: bool = True) -> None:
        super().__init__(words)
        self.is_permanent = is_permanent


class UnavailableError(Exception):
    """The server delivers nothing now; the others at it would wait for it too, each until it times out."""
