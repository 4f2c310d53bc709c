"""The versions, machines, configurations and workloads of a project, as its pages list them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Max, Min, QuerySet, Sum

from benchdash.accounts.models import Project
from benchdash.dashboard.shell.facts import in_words
from benchdash.regressions.queries import Difference, differing
from benchdash.results.catalogue import Use, uses_of_hardware, uses_of_versions, uses_of_workloads
from benchdash.results.models import (
    Alias,
    Configuration,
    ConfigurationContent,
    Hardware,
    Series,
    ServerVersion,
    SurroundingsCount,
    Workload,
)
from benchdash.results.versions import order_kind, release_line

# Maximum number of streams of a configuration, and of contents of a stream; older ones are counted.
MAX_STREAMS: Final = 12
MAX_CONTENTS: Final = 12


_UNUSED: Final = Use()
NOT_KNOWN: Final = "not known"


@dataclass(frozen=True)
class VersionRow:
    version: ServerVersion
    line: str
    use: Use
    old_names: Sequence[str]

    @property
    def order(self) -> str:
        """The number that sorts it in place of its own; empty for commits of a branch, which have times."""
        if self.version.order:
            return f"as {self.version.order}"
        kind = order_kind(self.version.sort_key)
        if kind == "numbers" or self.use.branches:
            return ""
        return "by its date" if kind else NOT_KNOWN


@dataclass(frozen=True)
class HardwareRow:
    hardware: Hardware
    use: Use


@dataclass(frozen=True)
class WorkloadRow:
    workload: Workload
    use: Use
    series: int
    old_names: Sequence[str]


@dataclass(frozen=True)
class ContentRow:
    """The content of a configuration in some runs; ``differences`` are from the content before it."""

    content: ConfigurationContent | None
    runs: int
    first_run_at: datetime
    last_run_at: datetime
    differences: Sequence[Difference] = ()

    @property
    def settings(self) -> list[tuple[str, str]]:
        """By name."""
        return sorted(self.content.settings.items()) if self.content else []


@dataclass(frozen=True)
class ContentStream:
    """The contents of a configuration in the runs of one product and branch, the newest first."""

    product: str
    branch: str
    contents: Sequence[ContentRow]
    older: int

    @property
    def last_run_at(self) -> datetime:
        return max(row.last_run_at for row in self.contents)


@dataclass(frozen=True)
class ConfigurationRow:
    """``older`` is how many more streams there are."""

    configuration: Configuration
    runs: int
    streams: Sequence[ContentStream]
    older: int


def versions(project: Project) -> QuerySet[ServerVersion]:
    """Return the versions by product, the newest first."""
    return (
        ServerVersion.objects.filter(project=project)
        .select_related("product")
        .order_by("product__name", "-sort_key", "-committed_at", "-pk")
    )


def version_rows(found: Iterable[ServerVersion]) -> list[VersionRow]:
    """Return the rows of versions in their order; two statements."""
    listed = list(found)
    ids = [version.pk for version in listed]
    used, old_names = uses_of_versions(ids), _old_names("version", ids)
    lines = (release_line(version.product.name, version.version) for version in listed)
    return [
        VersionRow(version, line, used.get(version.pk, _UNUSED), old_names[version.pk])
        for version, line in zip(listed, lines, strict=True)
    ]


def hardware_rows(project: Project) -> list[HardwareRow]:
    machines = list(Hardware.objects.filter(project=project).prefetch_related("aliases").order_by("name"))
    used = uses_of_hardware(project)
    return [HardwareRow(machine, used.get(machine.pk, _UNUSED)) for machine in machines]


def workload_rows(project: Project) -> list[WorkloadRow]:
    workloads = list(Workload.objects.filter(project=project).order_by("name"))
    used = uses_of_workloads(project)
    counted = Series.objects.filter(project=project).order_by().values_list("workload").annotate(Count("pk"))
    series, old_names = dict(counted), _old_names("workload", [workload.pk for workload in workloads])
    return [
        WorkloadRow(one, used.get(one.pk, _UNUSED), series.get(one.pk, 0), old_names[one.pk])
        for one in workloads
    ]


def configuration_rows(project: Project) -> list[ConfigurationRow]:
    """Return every configuration with what it held, in a constant number of statements."""
    found = Configuration.objects.filter(project=project).prefetch_related("aliases").order_by("name")
    held = _held(project)
    return [_configuration_row(one, held.get(one.pk, {})) for one in found]


def facts_in_words(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """By name."""
    return in_words(dict(sorted(facts.items())))


def _old_names(kind: str, ids: Iterable[int]) -> defaultdict[int, list[str]]:
    """Return, by id, the names by which uploads still find renamed or merged things."""
    names: defaultdict[int, list[str]] = defaultdict(list)
    known = Alias.objects.filter(**{f"{kind}__in": list(ids)}).order_by("pk")
    for thing, name in known.values_list(kind, "name"):
        names[thing].append(name)
    return names


_StreamKey = tuple[str, str]


def _held(project: Project) -> dict[int, dict[_StreamKey, list[ContentRow]]]:
    """Return the contents by configuration and by product and branch, the oldest first."""
    rows = list(
        SurroundingsCount.objects.filter(project=project)
        .order_by()
        .values_list("configuration", "product__name", "branch", "content")
        .annotate(Sum("runs"), Min("first_run_at"), Max("last_run_at"))
    )
    contents = ConfigurationContent.objects.in_bulk({row[3] for row in rows if row[3]})
    held: dict[int, dict[_StreamKey, list[ContentRow]]] = defaultdict(lambda: defaultdict(list))
    for configuration, product, branch, content, runs, first, last in sorted(rows, key=lambda row: row[5]):
        held[configuration][product, branch].append(ContentRow(contents.get(content), runs, first, last))
    return held


def _configuration_row(
    configuration: Configuration, held: Mapping[_StreamKey, Sequence[ContentRow]]
) -> ConfigurationRow:
    streams = [
        ContentStream(product, branch, _newest_first(contents)[:MAX_CONTENTS], len(contents[MAX_CONTENTS:]))
        for (product, branch), contents in held.items()
    ]
    streams.sort(key=lambda stream: stream.last_run_at, reverse=True)
    return ConfigurationRow(
        configuration=configuration,
        runs=sum(row.runs for contents in held.values() for row in contents),
        streams=streams[:MAX_STREAMS],
        older=len(streams[MAX_STREAMS:]),
    )


def _newest_first(contents: Sequence[ContentRow]) -> list[ContentRow]:
    """Return each content with what differs from the one before it, the newest first."""
    described = []
    before: ConfigurationContent | None = None
    for row in contents:
        differences = differing(before.settings, row.content.settings) if before and row.content else []
        described.append(replace(row, differences=differences))
        before = row.content or before
    return described[::-1]
