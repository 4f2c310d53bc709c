"""Finds or makes the rows that runs point at: versions, machines, configurations, workloads, contents."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

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

M = TypeVar("M", bound=Model)

# More new names than this at once are a new suite and not typing mistakes.
_LOOK_FOR_NEAREST = 50
_COMMIT_PREFIX = 7


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run belongs, as rows."""

    version: ServerVersion
    hardware: Hardware
    environment: Environment | None
    configuration: Configuration
    content: ConfigurationContent | None
    workload: Workload


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
    aliases = _aliases(project, records)
    products, new_products = _named(Product, project, (r.product for r in records), aliases["product"])
    hardware, new_hardware = _named(Hardware, project, (r.hardware for r in records), aliases["hardware"])
    configurations, _ = _named(
        Configuration, project, (r.configuration for r in records), aliases["configuration"]
    )
    workloads, new_workloads = _named(Workload, project, (r.workload for r in records), aliases["workload"])
    versions = _versions(project, [products[r.product] for r in records], records)
    environments = _environments(project, records)
    contents = _contents(project, records)
    _fill_hardware_facts(hardware, records)
    _fill_workload_options(workloads, records)
    places = [
        Place(
            version=version,
            hardware=hardware[record.hardware],
            environment=environment,
            configuration=configurations[record.configuration],
            content=content,
            workload=workloads[record.workload],
        )
        for record, version, environment, content in zip(
            records, versions, environments, contents, strict=True
        )
    ]
    new_names = {
        **_new_name_warnings(Product, project, new_products),
        **_new_name_warnings(Hardware, project, new_hardware),
        **_new_name_warnings(Workload, project, new_workloads),
    }
    return Located(places, new_names)


def version_name(version: str, build: str, commit: str | None) -> str:
    """What an alias calls a server version of a product: ``10.6.23 debug 1f3c9a0``."""
    return " ".join(filter(None, [version, build, commit]))


# --- named things -----------------------------------------------------------------------------------------


def _aliases(project: Project, records: Sequence[RunRecord]) -> dict[str, dict[str, Any]]:
    """Of each kind, the things that the records call by an old name."""
    kinds = ("product", "hardware", "configuration", "workload")
    names = {getattr(record, kind) for record in records for kind in kinds}
    found: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    rows = Alias.objects.filter(project=project, name__in=names, version=None).select_related(*kinds)
    for alias in rows:
        for kind in kinds:
            if thing := getattr(alias, kind):
                found[kind][alias.name] = thing
    return found


def _named(
    model: type[M], project: Project, names: Iterable[str], aliases: Mapping[str, M]
) -> tuple[dict[str, M], list[str]]:
    """The rows by the name that was used for them, and the names that are new."""
    wanted = {name: model(project=project, name=name) for name in set(names) - set(aliases)}
    rows, created = _find_or_make(model, project, "name", wanted)
    return {**aliases, **rows}, created


def _find_or_make(
    model: type[M], project: Project, field: str, wanted: Mapping[str, M]
) -> tuple[dict[str, M], list[str]]:
    """The rows of the project by ``field``, and the sorted keys of those that were made."""

    def find() -> dict[str, M]:
        rows = model._default_manager.filter(project=project, **{f"{field}__in": list(wanted)})
        return {getattr(row, field): row for row in rows}

    if not wanted:
        return {}, []
    found = find()
    missing = sorted(wanted.keys() - found.keys())
    if missing:
        model._default_manager.bulk_create([wanted[key] for key in missing], ignore_conflicts=True)
        found = find()
    return found, missing


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
    project: Project, products: Sequence[Product], records: Sequence[RunRecord]
) -> list[ServerVersion]:
    """The server version of each record, whose product stands at the same place in ``products``."""
    commits = _known_commits(products, records)
    parsed = [parse_version(record.version) for record in records]
    keys: list[_VersionKey] = [
        (product.pk, version.version, record.build, commits.get((product.pk, record.commit or "")))
        for product, version, record in zip(products, parsed, records, strict=True)
    ]
    wanted = {
        key: ServerVersion(
            project=project,
            product=product,
            version=version.version,
            sort_key=version.sort_key,
            build=record.build,
            commit=key[3],
        )
        for key, product, version, record in zip(keys, products, parsed, records, strict=True)
    }
    found = _find_or_make_versions(project, wanted)
    # One product is one object, so that its name is read once.
    by_id = {product.pk: product for product in products}
    for version in found.values():
        version.product = by_id[version.product_id]
    versions = [found[key] for key in keys]
    _fill_commit_times(versions, records)
    return versions


def _known_commits(products: Sequence[Product], records: Sequence[RunRecord]) -> dict[tuple[int, str], str]:
    """By product and the commit as a record writes it: the commit as it is known.

    A commit is the one known commit that it begins, or that begins it; with none or several it stands for
    itself.
    """
    wanted = {(p.pk, r.commit) for p, r in zip(products, records, strict=True) if r.commit}
    if not wanted:
        return {}
    prefixes = {commit[:_COMMIT_PREFIX].lower() for _, commit in wanted}
    rows = (
        ServerVersion.objects.filter(product__in={product for product, _ in wanted})
        .annotate(prefix=Left("commit", _COMMIT_PREFIX))
        .filter(prefix__in=prefixes)
    )
    known: dict[int, set[str]] = {product: set() for product, _ in wanted}
    for product, commit in rows.values_list("product_id", "commit").distinct():
        known[product].add(commit or "")
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


def _find_or_make_versions(
    project: Project, wanted: Mapping[_VersionKey, ServerVersion]
) -> dict[_VersionKey, ServerVersion]:
    if not wanted:
        return {}
    found = _find_versions(wanted)
    found |= _version_aliases(project, wanted.keys() - found.keys())
    missing = sorted(wanted.keys() - found.keys(), key=lambda key: (*key[:3], key[3] or ""))
    if missing:
        ServerVersion.objects.bulk_create([wanted[key] for key in missing], ignore_conflicts=True)
        found |= _find_versions(missing)
    return found


def _find_versions(keys: Collection[_VersionKey]) -> dict[_VersionKey, ServerVersion]:
    rows = ServerVersion.objects.filter(
        Q(commit=None) | Q(commit__in={commit for *_, commit in keys if commit}),
        product__in={product for product, *_ in keys},
        version__in={version for _, version, *_ in keys},
    )
    found = {(row.product_id, row.version, row.build, row.commit): row for row in rows}
    return {key: found[key] for key in keys if key in found}


def _version_aliases(project: Project, keys: Collection[_VersionKey]) -> dict[_VersionKey, ServerVersion]:
    """Those of the versions that are called by an old name of their product's."""
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


def _environments(project: Project, records: Sequence[RunRecord]) -> list[Environment | None]:
    digests = [_digest(dict(record.environment)) if record.environment else "" for record in records]
    wanted = {
        digest: Environment(project=project, digest=digest, facts=dict(record.environment))
        for digest, record in zip(digests, records, strict=True)
        if digest
    }
    rows, _ = _find_or_make(Environment, project, "digest", wanted)
    return [rows.get(digest) for digest in digests]


def _contents(project: Project, records: Sequence[RunRecord]) -> list[ConfigurationContent | None]:
    contents = [_content(project, record) for record in records]
    wanted = {content.digest: content for content in reversed(contents) if content}
    rows, _ = _find_or_make(ConfigurationContent, project, "digest", wanted)
    return [rows[content.digest] if content else None for content in contents]


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


def _fill_hardware_facts(hardware: Mapping[str, Hardware], records: Iterable[RunRecord]) -> None:
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


def _fill_workload_options(workloads: Mapping[str, Workload], records: Iterable[RunRecord]) -> None:
    """The options of a workload are those of its first run that says any."""
    filled = {}
    for record in records:
        workload = workloads[record.workload]
        if record.options and not workload.options:
            workload.options = dict(record.options)
            filled[workload.pk] = workload
    if filled:
        Workload.objects.bulk_update([filled[pk] for pk in sorted(filled)], ["options"])


def differing_options(workload: Workload, options: Mapping[str, Fact]) -> list[str]:
    """The sorted names of the options in which a run differs from the first run of its workload."""
    if not options or not workload.options:
        return []
    names = options.keys() | workload.options.keys()
    return sorted(name for name in names if options.get(name) != workload.options.get(name))
