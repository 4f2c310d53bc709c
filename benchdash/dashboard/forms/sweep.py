"""What the address of the page about one setting chooses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.dashboard.forms.compare import SCALES, address_of, read_threads, threads_texts

X: Final = ("value", "threads")
VALUES: Final = ("relative", "hidden")
_MOST_TEXTS: Final = 50


@dataclass(frozen=True)
class Choice:
    """All that an address chooses; what is empty was not chosen.

    ``setting`` is the key of a factor, ``subject`` the id of one, ``workloads`` are names of rows, ``only``
    are conditions as ``key=value``. ``values`` ``hidden`` leaves out all absolute figures.
    """

    subject: str = ""
    setting: str = ""
    base: str = ""
    metric: str = ""
    hardware: str = ""
    workloads: Sequence[str] = ()
    threads: Sequence[int | None] = ()
    only: Sequence[str] = ()
    x: str = ""
    values: str = ""
    scale: str = ""

    @property
    def is_relative(self) -> bool:
        return self.values in VALUES

    @property
    def hides_values(self) -> bool:
        return self.values == "hidden"

    @property
    def kept(self) -> list[tuple[str, str]]:
        """What no filter says, as query parameters."""
        said = [("x", self.x), ("values", self.values), ("axis", self.scale)]
        return [(name, value) for name, value in said if value]

    def address(self, path: str, **changes: str | Sequence[str]) -> str:
        """The address of this choice, with some parameters changed; an empty one goes."""
        parameters: dict[str, str | Sequence[str]] = {
            "v": self.subject,
            "setting": self.setting,
            "base": self.base,
            "metric": self.metric,
            "hardware": self.hardware,
            "workload": self.workloads,
            "threads": threads_texts(self.threads),
            "with": self.only,
            **dict(self.kept),
            **changes,
        }
        return address_of(path, parameters)


def read_choice(query: QueryDict) -> Choice:
    def text(name: str) -> str:
        # No setting has this character, and PostgreSQL knows none with it.
        return query.get(name, "").replace("\0", "")

    def one_of(name: str, allowed: Sequence[str]) -> str:
        return text(name) if text(name) in allowed else ""

    return Choice(
        subject=text("v"),
        setting=text("setting"),
        base=text("base"),
        metric=text("metric"),
        hardware=text("hardware"),
        workloads=_texts(query, "workload"),
        threads=read_threads(query),
        only=_texts(query, "with"),
        x=one_of("x", X),
        values=one_of("values", VALUES),
        scale=one_of("axis", SCALES),
    )


def _texts(query: QueryDict, name: str) -> list[str]:
    return list(dict.fromkeys(text for text in query.getlist(name) if text))[:_MOST_TEXTS]
