"""The ground of all tools: the shapes of arguments and answers, and how both are declared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Generic, TypeVar

import mcp_types as types
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from benchdash.accounts.access import Viewer

MAX_TEXT: Final = 300
DEFAULT_LIMIT: Final = 25
MAX_LIMIT: Final = 100
_MAX_SENTENCES: Final = 5
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 9998


class Refusal(Exception):  # noqa: N818 - the tool says why it has no answer, and what to do
    """A sentence for the assistant."""


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text cannot hold the character NUL")
    # Half of a character can neither be looked for nor sent back.
    text.encode("utf-8")
    return text


def _in_utc(time: datetime) -> datetime:
    # At the ends of the calendar there is no time in UTC.
    if not _FIRST_YEAR <= time.year <= _LAST_YEAR:
        raise ValueError(f"a year from {_FIRST_YEAR} to {_LAST_YEAR} is wanted")
    return time if time.tzinfo else time.replace(tzinfo=UTC)


Text = Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(_without_nul)]
Project = Annotated[Text, Field(description="The slug of a project, as list_projects gives it.")]
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Threads = Annotated[int, Field(ge=0, le=2**31 - 1)]
Moment = Annotated[datetime, AfterValidator(_in_utc)]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="How many at most.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="How many to skip, to read on.")]


class Arguments(BaseModel):
    """The arguments of a tool; its schema is what an assistant reads."""

    model_config = ConfigDict(extra="forbid")


class AnswerPart(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="null")


class ToolAnswer(AnswerPart):
    """The structured answer of a tool."""

    def in_words(self) -> str:
        """Say the same in short, for assistants that read no structure."""
        raise NotImplementedError


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool: ``description`` is what an assistant chooses it by, ``function`` answers."""

    name: str
    title: str
    description: str
    arguments: type[A]
    answers: type[ToolAnswer]
    function: Callable[[Viewer, A], ToolAnswer]

    @property
    def described(self) -> types.Tool:
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=_schema(self.arguments),
            output_schema=_schema(self.answers),
            annotations=types.ToolAnnotations(
                title=self.title, read_only_hint=True, idempotent_hint=True, open_world_hint=False
            ),
        )

    def answer(self, viewer: Viewer, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call the tool. Raises pydantic's ValidationError, Refusal, and what says who may see what."""
        return self.function(viewer, self.arguments.model_validate(arguments))


def _schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return a schema without the titles that pydantic makes of names, which are half of its length."""
    schema: dict[str, Any] = _untitled(shape.model_json_schema(mode="serialization"))
    return schema


def _untitled(part: Any) -> Any:
    if isinstance(part, list):
        return [_untitled(one) for one in part]
    if not isinstance(part, dict):
        return part
    # A property may be called so; its schema is an object.
    return {
        name: _untitled(one) for name, one in part.items() if not (name == "title" and isinstance(one, str))
    }


def sentences_of(error: ValidationError) -> str:
    """Say what is wrong with arguments, without repeating what was sent."""
    found = [
        f"{'.'.join(map(str, one['loc']))[:100] or 'arguments'}: {one['msg']}"
        for one in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    more = f"; and {len(found) - _MAX_SENTENCES} more" if len(found) > _MAX_SENTENCES else ""
    return f"the arguments do not fit: {'; '.join(found[:_MAX_SENTENCES])}{more}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_plain(cell) for cell in line)} |" for line in lines)


def _plain(cell: object) -> str:
    """Write a cell on one line; stored names may hold anything."""
    text = "" if cell is None else str(cell)
    return " ".join(text.replace("|", "\\|").split())


def left_out_words(shown: int, total: int, *, offset: int = 0) -> str:
    """Write ``25 of 60 are shown; ask with offset 25 for more.``."""
    end = offset + shown
    if end >= total:
        return ""
    return f"{shown} of {total} are shown; ask with offset {end} for more."
