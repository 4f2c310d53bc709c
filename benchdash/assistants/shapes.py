"""The ground of all tools: the shapes of arguments, and the answers of the API as an assistant gets them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final

import mcp_types as types
from django.db.models import Model, QuerySet
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from rest_framework.serializers import Serializer

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project as ProjectRow
from benchdash.results.queries import ids_called
from benchdash.results.wording import nearest, some_of

MAX_TEXT: Final = 300
MAX_LIMIT: Final = 100
MAX_NAMES: Final = 2000
_MAX_PARTS: Final = 40
_MAX_NEAREST: Final = 5
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
Name = Annotated[Text, Field(description="Exact name.")]
Machine = Annotated[Text, Field(description="Exact name of a machine.")]
Branch = Annotated[Text | None, Field(description="A branch; the empty text: releases only.")]
Metric = Annotated[Text, Field(description="Such as tps, qps, latency_p95, score.")]
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Threads = Annotated[int, Field(ge=0, le=2**31 - 1)]
Moment = Annotated[
    datetime,
    AfterValidator(_in_utc),
    Field(description="Only what began then or later; ISO 8601, in UTC without an offset."),
]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="How many at most.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="How many to skip, to read on.")]


class Tool(BaseModel):
    """The arguments of a call, which answers itself.

    Its docstring is what an assistant chooses it by, and its schema what an assistant reads.
    """

    model_config = ConfigDict(extra="forbid")
    name: ClassVar[str]
    title: ClassVar[str]

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        """Return the answer as JSON. Raises Refusal, and what says who may see what."""
        raise NotImplementedError

    @classmethod
    def described(cls) -> types.Tool:
        schema = cls.model_json_schema()
        return types.Tool(
            name=cls.name,
            title=cls.title,
            description=" ".join(schema.pop("description").split()),
            input_schema=_untitled(schema),
            annotations=types.ToolAnnotations(
                title=cls.title, read_only_hint=True, idempotent_hint=True, open_world_hint=False
            ),
        )


class ListTool(Tool):
    """A tool that lists some of what it finds, and says how to read on."""

    limit: Limit = 25
    offset: Offset = 0

    def shown(self, found: Any) -> Any:
        return found[self.offset : self.offset + self.limit]

    def listed(self, name: str, shown: Sequence[Any], total: int) -> dict[str, Any]:
        """Return what is shown under its name, between how many there are and how to ask for more."""
        end = self.offset + len(shown)
        more = f"{len(shown)} of {total} are shown; ask with offset {end} for more."
        return {"total": total, name: shown, "left_out": more if end < total else ""}


def _untitled(part: Any) -> Any:
    """Return a schema without the titles that pydantic makes of names, which are half of its length."""
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
    found = (
        f"{'.'.join(map(str, one['loc']))[:100] or 'arguments'}: {one['msg']}"
        for one in error.errors(include_url=False, include_context=False, include_input=False)
    )
    return f"the arguments do not fit: {some_of(found, _MAX_SENTENCES, '; ')}"


# --- names ------------------------------------------------------------------------------------------------


def ids_named(model: type[Model], name: str, project: ProjectRow) -> list[int]:
    """Return the ids of the things of a kind that have or had a name. Raises Refusal for an unknown one."""
    found = ids_called(model, [name], project)
    if not found:
        known = model._default_manager.filter(project=project).values_list("name", flat=True)
        raise Refusal(nearest_words(str(model._meta.verbose_name), name, list(known[:MAX_NAMES])))
    return found


def with_names(
    found: QuerySet[Any], asked: Tool, project: ProjectRow, models: Mapping[str, type[Model]]
) -> QuerySet[Any]:
    """Keep what has the names that were asked for, by field. Raises Refusal for one that is not known."""
    for name, model in models.items():
        if value := getattr(asked, name):
            found = found.filter(**{f"{name}__in": ids_named(model, value, project)})
    return found


def nearest_words(what: str, asked: str, known: Sequence[str]) -> str:
    """Write ``the workload 'oltp_read' is not known; nearest are 'oltp_read_only', 'oltp_read_write'``."""
    folded = {name.casefold(): name for name in known}
    near = nearest(asked.casefold(), folded, most=_MAX_NEAREST)
    contained = [name for name in folded if asked.casefold() in name]
    found = [folded[name] for name in dict.fromkeys([*near, *contained])][:_MAX_NEAREST]
    if found:
        return f"the {what} {asked!r} is not known; nearest are {', '.join(map(repr, found))}"
    some = some_of(map(repr, sorted(known)), _MAX_NEAREST)
    return f"the {what} {asked!r} is not known; there are {some or 'none'}"


# --- answers ----------------------------------------------------------------------------------------------

# Words of members, and what only a program needs.
_NOT_TOLD: Final = frozenset(
    {"assignee", "reason", "by", "comments", "bug", "bug_url"}
    | {"project", "url", "aliases", "printed_unit", "printed_factor"}
)


class _Stranger:
    """A view of the API that somebody asks who is a member nowhere."""

    member_projects: Final = frozenset[int]()


def told(serializer: type[Serializer[Any]], model: Any, *without: str) -> dict[str, Any]:
    """Return the answer of the API about a model, bounded, but for the fields ``without``."""
    answer = serializer(model, context={"view": _Stranger})
    for name in answer.fields.keys() & {*_NOT_TOLD, *without}:
        del answer.fields[name]
    bounded: dict[str, Any] = short(answer.data)
    return bounded


def short(part: Any, most: int = _MAX_PARTS) -> Any:
    """Return a part of an answer of the API as assistants get it.

    Lists and texts are cut; ``rows_left_out`` counts what ``rows`` has no more.
    """
    if isinstance(part, str):
        return part[:MAX_TEXT]
    if isinstance(part, list):
        return [short(one, most) for one in part[:most]]
    if not isinstance(part, Mapping):
        return part
    shown = {name: short(value, most) for name, value in part.items() if name not in _NOT_TOLD}
    cut = {name: len(part[name]) - most for name in shown if isinstance(part[name], list)}
    return shown | {f"{name}_left_out": left for name, left in cut.items() if left > 0}
