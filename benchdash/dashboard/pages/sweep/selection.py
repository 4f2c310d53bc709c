"""The selection in the address of the page about one setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.dashboard.compare.selection import SCALES, Selection, one_known, read_threads

X: Final = ("value", "threads")
VALUES: Final = ("relative", "hidden")
_MAX_TEXTS: Final = 50


@dataclass(frozen=True, kw_only=True)
class SweepSelection(Selection):
    """One setting of one version; what is empty was not chosen.

    ``columns`` are ids of subjects, or columns of other pages; ``setting`` is the key of a factor,
    ``only`` are conditions as ``key=value``. ``values`` ``hidden`` leaves out all absolute figures.
    """

    columns: Sequence[str] = ()
    setting: str = ""
    base: str = ""
    hardware: str = ""
    only: Sequence[str] = ()
    x: str = ""
    values: str = ""
    scale: str = ""

    @property
    def subjects(self) -> list[str]:
        """The ids of subjects that the columns mean, the reference of other pages first, then the newest."""
        texts = [text for text in self.columns if text == self.base] + [*reversed(self.columns)]
        return [_subject(text) for text in texts]

    @property
    def is_of_other_page(self) -> bool:
        """Tell whether the address was selected on a page of several versions, which knows no setting."""
        return not self.setting and any("." in text for text in (*self.columns, self.base))

    @property
    def is_relative(self) -> bool:
        return self.values in VALUES

    @property
    def hides_values(self) -> bool:
        return self.values == "hidden"

    @property
    def kept(self) -> list[tuple[str, str]]:
        said = [("x", self.x), ("values", self.values), ("axis", self.scale)]
        return [(name, value) for name, value in said if value]

    @property
    def versions(self) -> Mapping[str, str | Sequence[str]]:
        chosen = {"v": self.columns, "setting": self.setting, "base": self.base}
        return {**chosen, "hardware": self.hardware, "with": self.only}


def read_choice(query: QueryDict) -> SweepSelection:
    def text(name: str) -> str:
        # No setting has this character, and PostgreSQL knows none with it.
        return query.get(name, "").replace("\0", "")

    return SweepSelection(
        columns=_texts(query, "v"),
        setting=text("setting"),
        base=text("base"),
        metrics=_texts(query, "metric"),
        hardware=text("hardware"),
        workloads=_texts(query, "workload"),
        threads=read_threads(query),
        only=_texts(query, "with"),
        x=one_known(query, "x", X),
        values=one_known(query, "values", VALUES),
        scale=one_known(query, "axis", SCALES),
    )


def _subject(text: str) -> str:
    """``12~branch`` for the column ``12.3.1~branch``."""
    numbers, *rest = text.split("~", 1)
    return "~".join([numbers.partition(".")[0], *rest])


def _texts(query: QueryDict, name: str) -> list[str]:
    return list(dict.fromkeys(text for text in query.getlist(name) if text))[:_MAX_TEXTS]
