"""The settings of a start, from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchdash.launcher import LaunchError

CHECKOUT = Path(__file__).resolve().parent.parent.parent
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - how to reach who listens everywhere


@dataclass(frozen=True)
class Choices:
    var: Path
    host: str
    port: int
    samples: bool

    def url(self, port: int) -> str:
        """Return the address of the pages for a browser on this machine."""
        host = _LOOPBACK.get(self.host, self.host)
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def choices_of(environment: Mapping[str, str]) -> Choices:
    """Read the environment. Raises LaunchError for a value that makes no sense. Port 0 is any free port."""
    port = environment.get("PORT") or "8000"
    if not port.isdecimal() or int(port) > 65535:
        raise LaunchError(f"PORT must be a number up to 65535, not {port!r}")
    sample = environment.get("SAMPLE") or "1"
    if sample not in {"0", "1"}:
        raise LaunchError(f"SAMPLE must be 0 or 1, not {sample!r}")
    return Choices(
        var=Path(environment.get("BENCHDASH_VAR") or CHECKOUT / "var").resolve(),
        host=environment.get("HOST") or "127.0.0.1",
        port=int(port),
        samples=sample == "1",
    )
