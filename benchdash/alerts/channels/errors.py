"""Why a channel did not deliver, in one line: servers say anything, and it is stored and shown."""


class RefusedError(Exception):
    """One message or address was refused; others may go through.

    ``is_permanent`` where the receiving side said that it will not change its mind.
    """

    def __init__(self, words: str, *, is_permanent: bool = True) -> None:
        super().__init__(_line(words))
        self.is_permanent = is_permanent


class UnreadableSecretError(RefusedError):
    """The stored secret without which nothing can be sent was encrypted with a key that is gone."""

    def __init__(self) -> None:
        words = "its secret cannot be read, because the SECRET_KEY of this installation changed; add it again"
        super().__init__(words, is_permanent=False)


class UnavailableError(Exception):
    """The server delivers nothing now; the others at it would wait for it too, each until it times out."""

    def __init__(self, words: str) -> None:
        super().__init__(_line(words))


def _line(words: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())
