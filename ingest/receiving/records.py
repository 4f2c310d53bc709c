"""Decides what each run of a file was: from what the sender said, what lay beside the file, and the file."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any

from benchdash.results.controls import control_build
from benchdash.results.models import DEFAULT_CONFIGURATION, UNKNOWN_VERSION
from benchdash.results.pull_requests import branch_of, number_in_ref
from benchdash.results.readings import UNKNOWN, Reading, known_metric
from benchdash.results.records import Fact, MetricWishes, RunRecord, SampleTable
from benchdash.results.sessions import SESSION_TAG
from benchdash.results.stability import DEFAULT_RULE, Rule, stability_of_run
from ingest.budget import check_budget
from ingest.errors import FieldError, FieldsError
from ingest.formats.configuration import Content
from ingest.formats.product_names import split_product_version
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.sysbench.query_ratios import likely_workloads
from ingest.masking import MASK, mask_identity, mask_settings, mask_text
from ingest.masking.token_shapes import TOKEN
from ingest.metadata.clocks import early_warning, future_trouble
from ingest.metadata.fields import REQUIRED, Metadata
from ingest.metadata.meta import read_meta
from ingest.receiving.companions import NOTHING, CompanionFacts, on_the_time_of_the_run
from ingest.receiving.per_operation import cpus_in, per_operation

# Fields in which the runs of one file may differ.
_NAMED_BY_FILES = ("product", "version", "build", "configuration", "workload")
_TOLD_APART = (*_NAMED_BY_FILES, "commit", "committed_at", "counterpart", "started_at", "repetition")
# Counted or measured while the run went on, and so no options of its workload.
_MEASURED = frozenset({"count", "seconds", "index", "events", "errors", "reconnects"})
# Fields that a person may say otherwise than the file or its meta.
_TELLABLE = (*_NAMED_BY_FILES, "hardware", "counterpart", "branch", "commit", "started_at")
_MAX_NAMED = 5

_Patterns = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Decided:
    """The records of a file, and what its sender should know."""

    records: tuple[RunRecord, ...]
    warnings: tuple[str, ...]


def decide(
    report: ParsedReport,
    metadata: Metadata,
    *,
    received_at: datetime,
    beside: CompanionFacts = NOTHING,
    rule: Rule = DEFAULT_RULE,
) -> Decided:
    """Join a parsed file with its metadata, and with what the files beside it say.

    An explicit field wins over ``meta``, ``meta`` over the file, with two exceptions: the thread count that
    the tool printed wins, and ``meta`` does not make one of runs that the file tells apart. ``map`` wins for
    the runs that it names. ``meta`` wins over companions, a configuration file over ``meta``. What was
    measured beside the file belongs to its run, if there is but one. ``rule`` says what stalls are.
    Raises FieldsError for what nobody says, and FormatError where the file says that a run is yet to come.
    """
    decision = _Decision(report, metadata, received_at, beside, rule)
    if errors := list(decision.missing()):
        raise FieldsError(errors)
    decision.refuse_future()
    warnings = [*map(mask_text, report.warnings), *decision.meta.warnings, *beside.warnings]
    if len(report.runs) > 1 and (beside.samples or beside.means):
        warnings.append(
            f"the file holds {len(report.runs)} runs, and nothing says during which of them the files beside "
            "it were written: what they measured belongs to none of them"
        )
    return Decided(decision.records(), tuple(dict.fromkeys([*warnings, *decision.warnings()])))


class _Decision:
    """The words about a whole file, and about each of its runs.

    ``told_apart`` names what the runs differ in by the file itself. ``values`` are, for each run, what holds
    of the fields in which runs may differ; None where nobody says it.
    """

    def __init__(
        self,
        report: ParsedReport,
        metadata: Metadata,
        received_at: datetime,
        beside: CompanionFacts,
        rule: Rule,
    ) -> None:
        self.report, self.runs, self.metadata = report, report.runs, metadata
        self.received_at, self.rule = received_at, rule
        self.meta = read_meta(metadata.meta)
        self.patterns: _Patterns = metadata.map or self.meta.fields.get("map", {})
        self.told_apart = _told_apart(self.runs)
        self.content = beside.content or self.meta.content or beside.content_found or Content()
        # The columns of interval samples, also of those beside the file.
        self.sampled = [one.columns for one in report.intervals] + [one.columns for one in beside.samples]
        self.beside = beside if len(self.runs) == 1 else replace(beside, samples=(), means=())
        metrics = {**self.meta.fields.get("metrics", {}), **metadata.metrics}
        self.metrics = {name: MetricWishes(**wishes) for name, wishes in metrics.items()}
        self.threads: int | None = self._said("threads")
        self.hardware = self._said("hardware") or self.meta.hardware_name
        self.is_control = bool(self._said("control"))
        number = self._said("pull_request")
        self.pull_request = number_in_ref(self._said("branch") or "") if number is None else number
        self.explicit = {name: getattr(metadata, name) for name in _TOLD_APART}
        self.open = [name for name, value in self.explicit.items() if value is None]
        # Without a word of the file, nothing else is known of other fields than these.
        self.with_others = {*self.meta.fields, *(_TOLD_APART if metadata.defaults else ())}
        self.without_version: list[ParsedRun] = []
        self.values = [self._values(run) for run in self.runs]
        self.kept_apart = self._keep_apart()

    @cached_property
    def headings_by_entry(self) -> Mapping[frozenset[tuple[str, str]], AbstractSet[str]]:
        """The headings that tell runs apart, by what the sender says that they are."""
        found: dict[frozenset[tuple[str, str]], set[str]] = defaultdict(set)
        for run in self.runs:
            if run.heading and (entry := _best(_headings(run), self.patterns)):
                found[frozenset(entry.items())].add(run.heading)
        return found

    def records(self) -> tuple[RunRecord, ...]:
        facts, tables = mask_settings(self.report.facts), _tables(self.report)
        of_all = self._of_all_runs()
        return tuple(
            self._record(run, values, of_all, facts, tables.get(run.key, ()))
            for run, values in zip(self.runs, self.values, strict=True)
        )

    def _record(
        self,
        run: ParsedRun,
        values: Mapping[str, Any],
        of_all: Mapping[str, Any],
        facts: Mapping[str, Fact],
        samples: tuple[SampleTable, ...],
    ) -> RunRecord:
        """Return the record of a run. ``facts`` are those of the file, masked."""
        check_budget()
        started_at = values["started_at"]
        if run.command:
            facts = {**facts, **mask_settings({"command": run.command})}
        content = self.content.switched({**self.meta.switches, **run.settings})
        options = mask_settings({**run.options, **self.meta.options, **self.metadata.options})
        measured = {
            name: value for name, value in options.items() if isinstance(value, float) or name in _MEASURED
        }
        hardware = self._hardware(run)
        is_elsewhere = hardware != self.hardware
        hardware_facts = {} if is_elsewhere else {**self.beside.hardware, **self.meta.hardware_facts}
        sampled = (*samples, *self._samples_beside(run, started_at))
        printed = (*run.readings, *_without(run.readings, self.beside.means))
        readings = [self._told(one) for one in (*printed, *self._of_samples(printed, sampled))]
        build = values["build"] or ""
        return RunRecord(
            **of_all,
            key=_shown_name(run.key),
            product=values["product"],
            version=values["version"],
            build=control_build(build) if self.is_control else build,
            commit=values["commit"],
            committed_at=values["committed_at"],
            hardware=hardware,
            hardware_facts=hardware_facts,
            configuration=values["configuration"] or DEFAULT_CONFIGURATION,
            configuration_text=content.text,
            settings=content.settings,
            counterpart=values["counterpart"] or "",
            workload=values["workload"],
            threads=self.threads if run.threads is None else run.threads,
            repetition=values["repetition"],
            started_at=_aware(started_at or self.received_at),
            started_at_is_assumed=started_at is None,
            duration_s=run.duration_s,
            readings=(
                *readings,
                *per_operation(
                    readings,
                    cpus=cpus_in({**facts, **hardware_facts}),
                    seconds=run.duration_s,
                    facts={**self.meta.facts, **options},
                ),
                *self._stability(run, samples, options),
            ),
            options={name: value for name, value in options.items() if name not in measured},
            facts={**facts, **self.meta.facts, **measured, **self.facts_of_pull_request},
            warnings=tuple(self._run_warnings(run)),
            samples=sampled,
            metrics={one.metric: self.metrics[one.metric] for one in readings if one.metric in self.metrics},
        )

    def _of_all_runs(self) -> Mapping[str, Any]:
        """Return the fields of a record that no run of the file has for itself.

        A pull request has a branch of its own, whatever its sender calls its branch: that of a fork may be
        called like the one where it is to be merged.
        """
        number = self.pull_request
        tags = self.metadata.tags or self.meta.fields.get("tags") or self.metadata.defaults.get("tags", ())
        session = self._said("session")
        return {
            "branch": (self._said("branch") or "") if number is None else branch_of(number),
            "base_branch": self._said("base_branch") or "" if number else "",
            "environment": {**self.beside.hardware, **self.beside.environment, **self.meta.environment},
            "tags": tuple(dict.fromkeys([*([SESSION_TAG + session] if session else []), *tags])),
            "notes": self._said("notes") or "",
        }

    @cached_property
    def facts_of_pull_request(self) -> Mapping[str, Fact]:
        if self.pull_request is None:
            return {}
        said = {name: self._said(name) for name in ("branch", "base_branch")}
        return {"pull_request": self.pull_request, **{name: value for name, value in said.items() if value}}

    def _hardware(self, run: ParsedRun) -> str:
        return self._mapped(run).get("hardware") or self.hardware

    def _of_samples(self, readings: Iterable[Reading], samples: Iterable[SampleTable]) -> Iterator[Reading]:
        """Yield the interval samples of metrics that the sender names and the file has no figure of."""
        there = {one.metric for one in readings}
        for table in samples if self.metrics else ():
            for at, name in enumerate(table.columns):
                if name in self.metrics and name not in there and not known_metric(name):
                    values = (row[at] for row in table.rows)
                    yield from (
                        Reading(name, one, "", UNKNOWN, is_own=True) for one in values if one is not None
                    )

    def _told(self, reading: Reading) -> Reading:
        """Return a reading of a project's own metric with the unit and direction that its sender says."""
        wishes = self.metrics.get(reading.metric)
        if wishes is None or not reading.is_own:
            return reading
        unit, direction = wishes.unit or reading.unit, wishes.direction or reading.direction
        return reading._replace(unit=unit, direction=direction)

    def _samples_beside(self, run: ParsedRun, started_at: datetime | None) -> Iterator[SampleTable]:
        """Yield the samples, on the time of the run where both have a time of day."""
        for table in self.beside.samples:
            began_s = self.beside.began_s.get(table.source)
            if started_at is None or began_s is None:
                yield table
            else:
                moment = _aware(started_at).astimezone(UTC)
                yield on_the_time_of_the_run(table, began_s, moment, run.duration_s)

    def _stability(
        self, run: ParsedRun, samples: Iterable[SampleTable], options: Mapping[str, Fact]
    ) -> list[Reading]:
        """Return what follows from the intervals that the tool printed, and that it did not print itself."""
        said = {**self.meta.facts, **options}
        found = stability_of_run(samples, said=said, duration_s=run.duration_s, rule=self.rule)
        return _without(run.readings, found.readings()) if found else []

    def missing(self) -> Iterable[FieldError]:
        """Yield an error for each required field that neither the sender nor the file says."""
        runs = self.runs
        for name in REQUIRED:
            if name == "hardware":
                if not all(map(self._hardware, runs)):
                    message = "is required: a file does not say on which machine it was measured"
                    yield FieldError(name, message, is_missing=True)
            elif lacking := [run for run, values in zip(runs, self.values, strict=True) if not values[name]]:
                hint = _workload_hint(lacking) if name == "workload" else ""
                message = f"is required: the file does not say it{_of_some(lacking, runs)}{hint}"
                yield FieldError(name, message, is_missing=True)
        for name in sorted({name for run in runs for name in run.lost if self._said(name) is None}):
            lacking = [run for run in runs if name in run.lost]
            message = f"is required: the part that says it is missing in the file{_of_some(lacking, runs)}"
            yield FieldError(name, message, is_missing=True)
        if self._said("base_branch") and not self.pull_request:
            # An empty variable of CI would put a pull request among the results of its base.
            message = "is required with base_branch; leave both out for what is no pull request"
            yield FieldError("pull_request", message, is_missing=True)

    def refuse_future(self) -> None:
        """Raise FormatError for a start in the future that the file says and nobody corrects.

        What the sender says was looked at when it came in.
        """
        for run, values in zip(self.runs, self.values, strict=True):
            started_at = values["started_at"]
            if started_at is None or started_at != run.started_at:
                continue
            trouble = future_trouble(
                _aware(started_at), now=self.received_at, is_naive=_is_naive(run.started_at)
            )
            if trouble:
                raise FormatError(f"the file says that a run started at a time to come: {trouble}")

    def warnings(self) -> Iterable[str]:
        runs = self.runs
        if self.meta.hardware_name and not self._said("hardware"):
            yield f"the machine has no name and is called '{self.meta.hardware_name}' after its facts"
        for pattern in self.patterns:
            if not any(_matches(pattern, {*_names(run), *_headings(run)}) for run in runs):
                yield f"'{pattern}' in map names no column, benchmark or heading of the file"
        if self.metrics:
            yield from self._metric_warnings()
        for name in sorted(self.told_apart.intersection(_NAMED_BY_FILES)):
            own = {_own(run, name) for run in runs}
            if own == {self._said(name)}:
                continue
            if self.explicit[name] is not None:
                kept = ", now their configurations" if self.kept_apart else ""
                yield f"the field '{name}' gives one {name} to runs for which the file names {len(own)}{kept}"
            elif name in self.meta.fields:
                unused = self.meta.fields[name]
                yield f"the file tells its runs apart by {name}, so '{unused}' in meta was not used"
        if self.without_version:
            yield f"no version is known of {_shown(self.without_version)}, taken as '{UNKNOWN_VERSION}'"
        if any(_is_naive(run.started_at) for run in runs):
            yield "the times in the file have no offset and are taken as UTC"
        starts = {_aware(started_at) for values in self.values if (started_at := values["started_at"])}
        if starts and (warning := early_warning(min(starts))):
            yield warning
        if contradicting := [run.threads for run in runs if self._contradicts(run)]:
            yield _thread_warning(contradicting, self.threads)

    def _metric_warnings(self) -> Iterator[str]:
        found = {name: True for columns in self.sampled for name in columns if not known_metric(name)}
        found |= {one.metric: one.is_own for run in self.runs for one in run.readings}
        for name in self.metrics:
            if not found.get(name):
                what = "benchdash knows itself" if name in found else "is not in the file"
                yield f"the field 'metrics' names '{name}', which {what}"

    def _said(self, name: str) -> Any:
        explicit = getattr(self.metadata, name)
        said = self.meta.fields.get(name) if explicit is None else explicit
        return self.metadata.defaults.get(name) if said is None and name not in _TOLD_APART else said

    def _values(self, run: ParsedRun) -> dict[str, Any]:
        """Return what holds for one run, and note it where its column has a product and no version."""
        mapped = self._mapped(run)
        values: dict[str, Any] = {**self.explicit, **mapped}
        for name in self.open:
            if name not in mapped:
                values[name] = self._otherwise(run, name)
        has_columns = not self.told_apart.isdisjoint({"product", "version"})
        if has_columns and run.product and not values["version"]:
            self.without_version.append(run)
            values["version"] = UNKNOWN_VERSION
        return values

    def _keep_apart(self) -> bool:
        """Tell runs that fields make alike apart by their configuration: they are no repetitions.

        Return whether there were any.
        """
        overruled = [
            name for name in _NAMED_BY_FILES if name in self.told_apart and self.explicit[name] is not None
        ]
        if not overruled or self.explicit["configuration"] is not None:
            return False
        alike: dict[Hashable, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
        for run, values in zip(self.runs, self.values, strict=True):
            own = mask_identity(" ".join(str(part) for name in overruled if (part := _own(run, name))))
            measured = frozenset(one.metric for one in run.readings)
            alike[repr(values), run.threads, measured].append((own, values))
        several = [found for found in alike.values() if len({own for own, _ in found}) > 1]
        for own, values in chain.from_iterable(several):
            values["configuration"] = ", ".join(filter(None, [values["configuration"], own]))
        return bool(several)

    def _otherwise(self, run: ParsedRun, name: str) -> Any:
        """Return what holds of a run where its sender says nothing explicit."""
        own = _own(run, name)
        if own is None and name not in self.with_others:
            return None
        if name == "configuration" and self._says_heading(run):
            own = None
        if isinstance(own, str):
            own = mask_identity(own)
        if name == "counterpart" and own:
            # The name that meta gives it: one server must not be two counterparts.
            own = " ".join(filter(None, split_product_version(own)))
        if name in self.told_apart:
            return own
        own = self.meta.fields.get(name) or own
        if own not in (None, ""):
            return own
        # A version is of one product, and not of those that stand side by side.
        if name in ("version", "build") and "product" in self.told_apart:
            return None
        mapped = self._mapped(run, self.metadata.defaults.get("map", {}))
        return mapped.get(name) or self.metadata.defaults.get(name)

    def _mapped(self, run: ParsedRun, patterns: _Patterns | None = None) -> Mapping[str, str]:
        """Return what the sender says of this run by a name of it, and by a heading that it stands under."""
        patterns = self.patterns if patterns is None else patterns
        return {**_best(_headings(run), patterns), **_best(_names(run), patterns)} if patterns else {}

    def _says_heading(self, run: ParsedRun) -> bool:
        """Return whether the sender says what the heading of a run is, and says it of no other heading."""
        if not run.heading:
            return False
        entry = frozenset(_best(_headings(run), self.patterns).items())
        return len(self.headings_by_entry.get(entry, ())) == 1

    def _contradicts(self, run: ParsedRun) -> bool:
        return self.threads is not None and run.threads not in (None, self.threads)

    def _run_warnings(self, run: ParsedRun) -> Iterable[str]:
        if self._contradicts(run):
            yield _thread_warning([run.threads], self.threads)
        yield from (warning for warning in self.meta.warnings if warning.startswith("the tool ended"))


def _best(names: AbstractSet[str], patterns: _Patterns) -> Mapping[str, str]:
    """Return the entry of the most specific pattern for one of these names."""
    matching = [pattern for pattern in patterns if _matches(pattern, names)]
    exact = [pattern for pattern in matching if pattern in names]
    best = max(exact or matching, key=lambda pattern: (len(pattern), pattern), default=None)
    return {} if best is None else patterns[best]


def told(report: ParsedReport, metadata: Metadata) -> dict[str, set[Any]]:
    """Return what a file, or the ``meta`` beside it, says itself of its runs, by the names of fields."""
    meta = read_meta(metadata.meta).fields
    found = {name: {getattr(run, name, None) for run in report.runs} | {meta.get(name)} for name in _TELLABLE}
    return {
        name: {_aware(one) if isinstance(one, datetime) else one for one in values}
        for name in found
        if (values := found[name] - {None, ""})
    }


def _told_apart(runs: Sequence[ParsedRun]) -> frozenset[str]:
    """Return the names of the fields in which the file tells its runs apart."""
    if not runs:
        return frozenset()
    columns = zip(*map(attrgetter(*_TOLD_APART), runs), strict=True)
    values = {name: {*column} - {None} for name, column in zip(_TOLD_APART, columns, strict=True)}
    values["configuration"] = {_own(run, "configuration") for run in runs} - {None}
    several = {name for name in _TOLD_APART if len(values[name]) > 1}
    # The version of one product says nothing about another.
    return frozenset(several | ({"version"} if "product" in several and values["version"] else set()))


def _tables(report: ParsedReport) -> dict[str, tuple[SampleTable, ...]]:
    """Return the interval samples by the key of their run."""
    tables: dict[str, tuple[SampleTable, ...]] = {}
    for table in report.intervals:
        sample = SampleTable(table.source, table.columns, table.rows)
        tables[table.run] = (*tables.get(table.run, ()), sample)
    return tables


def _without(own: Iterable[Reading], others: Iterable[Reading]) -> list[Reading]:
    """Return the other readings, without those of metrics that the file brings itself."""
    metrics = {one.metric for one in own}
    return [one for one in others if one.metric not in metrics]


def _names(run: ParsedRun) -> set[str]:
    return {name for name in (run.column, run.workload, run.key) if name}


def _headings(run: ParsedRun) -> set[str]:
    return {*run.headings, *([run.heading] if run.heading else [])}


def _own(run: ParsedRun, name: str) -> Any:
    """Return what the file says of a run: a heading that tells it apart is its configuration."""
    own = getattr(run, name)
    return own or run.heading or None if name == "configuration" else own


def _matches(pattern: str, names: AbstractSet[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def _shown(runs: Sequence[ParsedRun]) -> str:
    """Name the columns of these runs, or their keys, for a message."""
    names = list(dict.fromkeys(_shown_name(run.column or run.key) for run in runs))
    shown = ", ".join(f"'{name[:50]}'" for name in names[:_MAX_NAMED])
    return f"{shown} and others" if len(names) > _MAX_NAMED else shown


def _shown_name(name: str) -> str:
    """Return a name that is not refused for a token in it: it may be that its sender gives another one."""
    return TOKEN.sub(MASK, mask_identity(name))


def _of_some(lacking: Sequence[ParsedRun], runs: Sequence[ParsedRun]) -> str:
    return "" if len(lacking) == len(runs) else f" of {_shown(lacking)}"


def _workload_hint(runs: Sequence[ParsedRun]) -> str:
    """Name the workloads that the numbers point to, for the sender to choose; nothing is taken by itself."""
    match likely_workloads(runs):
        case []:
            return ""
        case [likely]:
            return f"; its ratio of reads, writes and other is that of {likely}: send workload={likely}"
        case [*others, last]:
            return f"; its ratio of reads, writes and other is that of {', '.join(others)} or {last}"
    return ""


def _thread_warning(printed: Iterable[int | None], said: int | None) -> str:
    counts = ", ".join(str(threads) for threads in dict.fromkeys(printed))
    return f"the file says {counts} threads and its sender {said}: what the tool printed counts"


def _is_naive(moment: datetime | None) -> bool:
    return moment is not None and moment.tzinfo is None


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if _is_naive(moment) else moment
