"""Finds or makes the rows that runs point at: versions, machines, configurations, workloads, contents."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Model, Q
from django.db.models.functions import Left

from benchdash.accounts.models import Project
from benchdash.results.models import (
    Alias,
    Configuration,
    ConfigurationContent,
    Environment,
    Hardware,
    Product,
    ServerVersion,
    Workload,
)
from benchdash.results.records import Fact, RunRecord
from benchdash.results.versions import parse_version

# More new names than this at once are a new suite and not typing mistakes.
_LOOK_FOR_NEAREST = 50
_COMMIT_PREFIX = 7


@dataclass(slots=True)
class Thing:
    """A product, machine, configuration or workload; ``options`` are those of a workload."""

    pk: int
    name: str
    options: Mapping[str, Fact] | None = None


_Things = dict[str, dict[str, Thing]]
"""By kind, and by the name that was used."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run belongs, as rows."""

    product: Thing
    version: ServerVersion
    hardware_id: int
    environment_id: int | None
    configuration_id: int
    content_id: int | None
    workload: Thing


@dataclass(frozen=True, slots=True)
class Located:
    """A place for every record, in their order, and a warning by kind and name for each new name."""

    places: list[Place]
    new_names: Mapping[tuple[str, str], str]


def locate(project: Project, records: Sequence[RunRecord]) -> Located:
    """Find the rows that the records name, by name or old name, and make those that do not exist.

    A constant number of statements. Rows are made in the order of their keys, so that two uploads with the
    same new names wait for each other and never deadlock.
    """
    things, new = _find_or_make_things(project, records)
    products = [things["product"][record.product] for record in records]
    versions = _versions(project, products, records)
    environments = _environments(project, records)
    contents = _contents(project, records)
    _fill_hardware_facts(things["hardware"], records)
    _fill_workload_options(things["workload"], records)
    places = [
        Place(
            product=product,
            version=version,
            hardware_id=things["hardware"][record.hardware].pk,
            environment_id=environment,
            configuration_id=things["configuration"][record.configuration].pk,
            content_id=content,
            workload=things["workload"][record.workload],
        )
        for record, product, version, environment, content in zip(
            records, products, versions, environments, contents, strict=True
        )
    ]
    new_names = {
        name: warning
        for kind in ("product", "hardware", "workload")
        for name, warning in _new_name_warnings(_MODELS[kind], project, new[kind]).items()
    }
    return Located(places, new_names)


def version_name(version: str, build: str, commit: str | None) -> str:
    """What an alias calls a server version of a product: ``10.6.23 debug 1f3c9a0``."""
    return " ".join(filter(None, [version, build, commit]))


# --- named things -----------------------------------------------------------------------------------------


_MODELS: dict[str, type[Model]] = {
    "product": Product,
    "hardware": Hardware,
    "configuration": Configuration,
    "workload": Workload,
}
_OPTIONS = {kind: "thing.options" if kind == "workload" else "NULL::jsonb" for kind in _MODELS}
# What was renamed is found by its old name, even where another thing has that name now.
_FIND_THINGS = " UNION ALL ".join(
    f"""
    SELECT false, '{kind}', thing.name, thing.id, thing.name, {_OPTIONS[kind]}
    FROM results_{kind} thing WHERE thing.project_id = %(project)s AND thing.name = ANY(%({kind})s)
    UNION ALL
    SELECT true, '{kind}', alias.name, thing.id, thing.name, {_OPTIONS[kind]}
    FROM results_alias alias JOIN results_{kind} thing ON thing.id = alias.{kind}_id
    WHERE alias.project_id = %(project)s AND alias.name = ANY(%({kind})s)
    """  # noqa: S608 - of our own names
    for kind in _MODELS
)


def _find_or_make_things(
    project: Project, records: Sequence[RunRecord]
) -> tuple[_Things, dict[str, list[str]]]:
    """What the records name, by name or old name, and the names of each kind that are new."""
    names = {kind: {getattr(record, kind) for record in records} for kind in _MODELS}
    found = _find_things(project, names)
    new = {kind: sorted(of_kind - found[kind].keys()) for kind, of_kind in names.items()}
    for kind, of_kind in new.items():
        manager = _MODELS[kind]._default_manager
        manager.bulk_create(
            (_MODELS[kind](project=project, name=name) for name in of_kind), ignore_conflicts=True
        )
    return (_find_things(project, names) if any(new.values()) else found), new


def _find_things(project: Project, names: Mapping[str, Collection[str]]) -> _Things:
    found: _Things = {kind: {} for kind in _MODELS}
    with connection.cursor() as cursor:
        wanted = {kind: list(of_kind) for kind, of_kind in names.items()}
        cursor.execute(_FIND_THINGS, {**wanted, "project": project.pk})
        for _, kind, used, pk, name, options in sorted(cursor.fetchall(), key=itemgetter(0)):
            found[kind][used] = Thing(pk, name, json.loads(options) if options else None)
    return found


def _find_or_make(
    model: type[Model], project: Project, field: str, wanted: Mapping[str, Model]
) -> dict[str, int]:
    """The ids of rows of the project by ``field``."""
    rows = model._default_manager.filter(project=project, **{f"{field}__in": list(wanted)})
    if not wanted:
        return {}
    found = dict(rows.values_list(field, "pk"))
    if missing := sorted(wanted.keys() - found.keys()):
        model._default_manager.bulk_create([wanted[key] for key in missing], ignore_conflicts=True)
        found = dict(rows.values_list(field, "pk"))
    return found


def _new_name_warnings(
    model: type[Model], project: Project, new: Sequence[str]
) -> dict[tuple[str, str], str]:
    if not new:
        return {}
    names = model._default_manager.filter(project=project).exclude(name__in=new)
    known = list(names.values_list("name", flat=True)) if len(new) <= _LOOK_FOR_NEAREST else []
    kind = model.__name__.lower()
    return {(kind, name): _new_name_warning(kind, name, known) for name in new}


def _new_name_warning(kind: str, name: str, known: Sequence[str]) -> str:
    nearest = get_close_matches(name, known, n=1) or get_close_matches(name, known, n=1, cutoff=0)
    suggestion = f"; the nearest known one is '{nearest[0]}'" if nearest else ""
    return f"new {kind} '{name}'{suggestion}"


# --- server versions --------------------------------------------------------------------------------------

_VersionKey = tuple[int, str, str, str | None]


def _versions(
    project: Project, products: Sequence[Thing], records: Sequence[RunRecord]
) -> list[ServerVersion]:
    """The server version of each record, whose product stands at the same place in ``products``."""
    parsed = [parse_version(record.version) for record in records]
    candidates = _candidates({product.pk for product in products}, {one.version for one in parsed}, records)
    commits = _known_commits(candidates, products, records)
    keys: list[_VersionKey] = [
        (product.pk, version.version, record.build, commits.get((product.pk, record.commit or "")))
        for product, version, record in zip(products, parsed, records, strict=True)
    ]
    sort_keys = {key: version.sort_key for key, version in zip(keys, parsed, strict=True)}
    found = {key: version for version in candidates if (key := _key(version)) in sort_keys}
    found |= _version_aliases(project, sort_keys.keys() - found.keys())
    if missing := sorted(sort_keys.keys() - found.keys(), key=lambda key: (*key[:3], key[3] or "")):
        found |= _make_versions(project, missing, sort_keys)
    versions = [found[key] for key in keys]
    _fill_commit_times(versions, records)
    return versions


def _candidates(
    products: Collection[int], versions: Collection[str], records: Iterable[RunRecord]
) -> list[ServerVersion]:
    """Among them are all versions that the records name, and all whose commit may be one that they name."""
    prefixes = {record.commit[:_COMMIT_PREFIX].lower() for record in records if record.commit}
    rows = ServerVersion.objects.filter(product__in=products)
    without = Q(commit=None, version__in=versions)
    if not prefixes:
        return list(rows.filter(without))
    return list(rows.annotate(prefix=Left("commit", _COMMIT_PREFIX)).filter(without | Q(prefix__in=prefixes)))


def _key(version: ServerVersion) -> _VersionKey:
    return version.product_id, version.version, version.build, version.commit


def _known_commits(
    candidates: Iterable[ServerVersion], products: Sequence[Thing], records: Sequence[RunRecord]
) -> dict[tuple[int, str], str]:
    """By product and the commit as a record writes it: the commit as it is known.

    A commit is the one known commit that it begins, or that begins it; with none or several it stands for
    itself.
    """
    wanted = {(p.pk, r.commit) for p, r in zip(products, records, strict=True) if r.commit}
    known: dict[int, set[str]] = {product: set() for product, _ in wanted}
    for version in candidates:
        if version.commit and version.product_id in known:
            known[version.product_id].add(version.commit)
    resolved = {}
    # The longest first: a short one in the same file is then known by it.
    for product, commit in sorted(wanted, key=lambda pair: (-len(pair[1]), pair)):
        resolved[product, commit] = _known_commit(commit.lower(), known[product])
        known[product].add(resolved[product, commit])
    return resolved


def _known_commit(commit: str, known: set[str]) -> str:
    if commit in known:
        return commit
    same = [other for other in known if other.startswith(commit) or commit.startswith(other)]
    return same[0] if len(same) == 1 else commit


_MAKE_VERSIONS = """
    INSERT INTO results_serverversion (project_id, product_id, version, build, commit, sort_key)
    SELECT %(project)s, * FROM unnest(
        %(products)s::bigint[], %(versions)s::varchar[], %(builds)s::varchar[], %(commits)s::varchar[],
        %(sort_keys)s::varchar[]
    )
    ON CONFLICT DO NOTHING
    RETURNING id, product_id, version, build, commit
"""


def _make_versions(
    project: Project, keys: Sequence[_VersionKey], sort_keys: Mapping[_VersionKey, str]
) -> dict[_VersionKey, ServerVersion]:
    products, versions, builds, commits = map(list, zip(*keys, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            _MAKE_VERSIONS,
            {
                "project": project.pk,
                "products": products,
                "versions": versions,
                "builds": builds,
                "commits": commits,
                "sort_keys": [sort_keys[key] for key in keys],
            },
        )
        rows = [
            ServerVersion(
                pk=pk, project_id=project.pk, product_id=product, version=version, build=build, commit=commit
            )
            for pk, product, version, build, commit in cursor.fetchall()
        ]
    made = {_key(row): row for row in rows}
    # Another upload may have made the others meanwhile.
    return made | _find_versions([key for key in keys if key not in made])


def _find_versions(keys: Sequence[_VersionKey]) -> dict[_VersionKey, ServerVersion]:
    if not keys:
        return {}
    rows = ServerVersion.objects.filter(
        Q(commit=None) | Q(commit__in={commit for *_, commit in keys if commit}),
        product__in={product for product, *_ in keys},
        version__in={version for _, version, *_ in keys},
    )
    return {key: version for version in rows if (key := _key(version)) in set(keys)}


def _version_aliases(project: Project, keys: Collection[_VersionKey]) -> dict[_VersionKey, ServerVersion]:
    """Those of the versions that are called by an old name of their product's."""
    if not keys:
        return {}
    rows = Alias.objects.filter(project=project, name__in={version_name(*key[1:]) for key in keys})
    targets = {
        (alias.version.product_id, alias.name): alias.version
        for alias in rows.select_related("version")
        if alias.version
    }
    named = {key: targets.get((key[0], version_name(*key[1:]))) for key in keys}
    return {key: version for key, version in named.items() if version}


def _fill_commit_times(versions: Sequence[ServerVersion], records: Sequence[RunRecord]) -> None:
    """A commit time once known stays; the first that says one fills it."""
    filled = {}
    for version, record in zip(versions, records, strict=True):
        if record.committed_at and version.commit and version.committed_at is None:
            version.committed_at = record.committed_at
            filled[version.pk] = version
    if filled:
        ServerVersion.objects.bulk_update([filled[version] for version in sorted(filled)], ["committed_at"])


# --- contents ---------------------------------------------------------------------------------------------


def _environments(project: Project, records: Sequence[RunRecord]) -> list[int | None]:
    digests = [_digest(dict(record.environment)) if record.environment else "" for record in records]
    wanted = {
        digest: Environment(project=project, digest=digest, facts=dict(record.environment))
        for digest, record in zip(digests, records, strict=True)
        if digest
    }
    ids = _find_or_make(Environment, project, "digest", wanted)
    return [ids.get(digest) for digest in digests]


def _contents(project: Project, records: Sequence[RunRecord]) -> list[int | None]:
    contents = [_content(project, record) for record in records]
    wanted = {content.digest: content for content in reversed(contents) if content}
    ids = _find_or_make(ConfigurationContent, project, "digest", wanted)
    return [ids[content.digest] if content else None for content in contents]


def _content(project: Project, record: RunRecord) -> ConfigurationContent | None:
    """None where nothing is known. A text in which no settings were understood counts as it is."""
    text = record.configuration_text or ""
    if not record.settings and not text.strip():
        return None
    meaningful = meaningful_settings(record.settings)
    digest = _digest(meaningful if record.settings else text.strip())
    return ConfigurationContent(project=project, digest=digest, text=text, settings=meaningful)


def meaningful_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Settings in one spelling (``innodb_flush_method``), without those that differ between two starts."""
    spelt = {_setting_name(name): value.strip() for name, value in given.items()}
    noise = {_setting_name(name) for name in settings.CONFIGURATION_NOISE}
    return {name: value for name, value in spelt.items() if name not in noise}


def _setting_name(name: str) -> str:
    return name.strip().lower().replace("-", "_").removeprefix("loose_")


def _digest(content: Any) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


# --- facts of named things --------------------------------------------------------------------------------

_FILL_FACTS = """
    UPDATE results_hardware AS hardware SET facts = given.facts || jsonb_strip_nulls(hardware.facts)
    FROM unnest(%(ids)s::bigint[], %(facts)s::jsonb[]) AS given (id, facts)
    WHERE hardware.id = given.id AND given.facts || jsonb_strip_nulls(hardware.facts) <> hardware.facts
"""


def _fill_hardware_facts(hardware: Mapping[str, Thing], records: Iterable[RunRecord]) -> None:
    """What is known of a machine stays; only facts not known yet are added."""
    given: dict[int, dict[str, Fact]] = {}
    for record in records:
        facts = {name: value for name, value in record.hardware_facts.items() if value not in (None, "")}
        if facts:
            known = given.setdefault(hardware[record.hardware].pk, {})
            known.update({name: value for name, value in facts.items() if name not in known})
    if given:
        ids = sorted(given)
        with connection.cursor() as cursor:
            cursor.execute(_FILL_FACTS, {"ids": ids, "facts": [json.dumps(given[pk]) for pk in ids]})


def _fill_workload_options(workloads: Mapping[str, Thing], records: Iterable[RunRecord]) -> None:
    """The options of a workload are those of its first run that says any."""
    filled = {}
    for record in records:
        workload = workloads[record.workload]
        if record.options and not workload.options:
            workload.options = dict(record.options)
            filled[workload.pk] = workload
    if filled:
        rows = [Workload(pk=pk, options=filled[pk].options) for pk in sorted(filled)]
        Workload.objects.bulk_update(rows, ["options"])


def differing_options(workload: Thing, options: Mapping[str, Fact]) -> list[str]:
    """The sorted names of the options in which a run differs from the first run of its workload."""
    if not options or not workload.options:
        return []
    names = options.keys() | workload.options.keys()
    return sorted(name for name in names if options.get(name) != workload.options.get(name))
