"""The rows that runs point at: versions, machines, configurations, workloads, contents. Found or made."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Model

from benchdash.accounts.models import Project
from benchdash.results.models import (
    COMMIT_PREFIX,
    NAMED,
    Alias,
    ConfigurationContent,
    Environment,
    ServerVersion,
    SurroundingsCount,
    Workload,
)
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.records import Fact, RunRecord
from benchdash.results.summaries import follow_versions
from benchdash.results.versions import order_kind, parse_version, sort_key
from benchdash.results.wording import nearest

# More new names than this at once are a new suite and not typing mistakes.
_LOOK_FOR_NEAREST = 50


@dataclass(frozen=True, slots=True)
class Followed:
    """An old name that a record used: the id of its alias, and since when it is one."""

    alias_id: int
    since: datetime | None

    def warning(self, kind: str, used: str, name: str) -> str:
        since = f" since {self.since:%Y-%m-%d}" if self.since else ""
        return f"{kind} '{used}' is known as '{name}'{since}"


@dataclass(slots=True)
class Thing:
    """A product, machine, configuration or workload; ``options`` are those of a workload.

    ``followed`` where it was found by an old name.
    """

    pk: int
    name: str
    options: Mapping[str, Fact] | None = None
    followed: Followed | None = None


_Things = dict[str, dict[str, Thing]]
"""By kind, and by the name that was used."""


@dataclass(frozen=True, slots=True)
class RowsOfRun:
    """The rows that a record names. ``followed`` are the old names that led there: alias and warning."""

    product: Thing
    version: ServerVersion
    hardware: Thing
    environment_id: int | None
    configuration_id: int
    content_id: int | None
    workload: Thing
    followed: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True)
class Located:
    """The rows of every record, in order, and a warning for each new name, by kind and name."""

    places: list[RowsOfRun]
    new_names: Mapping[tuple[str, str], str]


def locate(project: Project, records: Sequence[RunRecord]) -> Located:
    """Find the rows that the records name, by name or old name, and make those that do not exist.

    A constant number of statements. Rows are made in the order of their keys, so that two uploads with the
    same new names wait for each other and never deadlock.
    """
    environments = [_environment(project, record) for record in records]
    contents = [_content(project, record) for record in records]
    wanted = _wanted_names(records, environments, contents)
    found, new = _find_or_make_things(project, wanted)
    things = found.things
    products = [things["product"][record.product] for record in records]
    versions, old_versions = _versions(project, found, wanted["version_name"], products, records)
    environment_ids = _find_or_make(project, Environment, environments, found.environments)
    content_ids = _find_or_make(project, ConfigurationContent, contents, found.contents)
    _fill_hardware_facts(things["hardware"], records)
    _fill_workload_options(things["workload"], records)
    places = [
        RowsOfRun(
            product=product,
            version=version,
            hardware=things["hardware"][record.hardware],
            environment_id=environment_ids[environment.digest] if environment else None,
            configuration_id=things["configuration"][record.configuration].pk,
            content_id=content_ids[content.digest] if content else None,
            workload=things["workload"][record.workload],
            followed=[*_followed(things, record), *old_version],
        )
        for record, product, version, old_version, environment, content in zip(
            records, products, versions, old_versions, environments, contents, strict=True
        )
    ]
    new["branch"] = [name for name in wanted["branch"] if name not in found.branches]
    new_names = {
        name: warning
        for kind in ("product", "hardware", "workload", "branch")
        for name, warning in _new_name_warnings(kind, project, new[kind]).items()
    }
    return Located(places, new_names)


def _followed(things: _Things, record: RunRecord) -> list[tuple[int, str]]:
    found = ((kind, getattr(record, kind)) for kind in NAMED)
    return [
        (old.alias_id, old.warning(kind, used, thing.name))
        for kind, used in found
        if (old := (thing := things[kind][used]).followed)
    ]


def version_name(version: str, build: str, commit: str | None) -> str:
    """Return the name by which aliases call a version of a product: ``10.6.23 debug 1f3c9a0``."""
    return " ".join(filter(None, [version, build, commit]))


# --- finding all by one statement -------------------------------------------------------------------------

_OPTIONS = {kind: "thing.options" if kind == "workload" else "NULL" for kind in NAMED}
# The first part names the types of the columns.
_TYPES = (
    "NULL::text, NULL::text, NULL::bigint, NULL::text, NULL::jsonb, NULL::bigint, NULL::text, NULL::text,"
    " NULL::timestamptz, NULL::text, NULL::bigint, NULL::timestamptz"
)
_NO_VERSION = "NULL, NULL, NULL, NULL, NULL"
_NO_ALIAS = "NULL, NULL"
_VERSION = "version.product_id, version.build, version.commit, version.committed_at, version.sort_key"
_OF_VERSION = f"{_VERSION}, {_NO_ALIAS} FROM results_serverversion version"
# Products are the same in any case: mariadb is MariaDB.
_ONE_OF_PRODUCTS = "lower({}name) IN (TABLE named)"
_ONE_OF = {kind: f"{{}}name = ANY(%({kind})s)" for kind in NAMED} | {"product": _ONE_OF_PRODUCTS}
_OF_PRODUCTS = f"""
    version.product_id IN (
        SELECT id FROM results_product WHERE project_id = %(project)s AND {_ONE_OF_PRODUCTS.format("")}
        UNION ALL
        SELECT product_id FROM results_alias WHERE project_id = %(project)s AND {_ONE_OF_PRODUCTS.format("")}
    )
"""  # noqa: S608 - of our own names
_PARTS_OF_FIND = [
    f"WITH named AS (SELECT lower(unnest(%(product)s::text[]))) SELECT {_TYPES} WHERE false",
    *(
        f"""
            SELECT '{kind}', thing.name, thing.id, thing.name, {_OPTIONS[kind]}, {_NO_VERSION}, {_NO_ALIAS}
            FROM results_{kind} thing
            WHERE thing.project_id = %(project)s AND {_ONE_OF[kind].format("thing.")}
        """  # noqa: S608 - of our own names
        for kind in NAMED
    ),
    *(
        f"""
            SELECT '{kind} alias', alias.name, thing.id, thing.name, {_OPTIONS[kind]}, {_NO_VERSION},
                alias.id, alias.since
            FROM results_alias alias JOIN results_{kind} thing ON thing.id = alias.{kind}_id
            WHERE alias.project_id = %(project)s AND {_ONE_OF[kind].format("alias.")}
        """  # noqa: S608 - of our own names
        for kind in NAMED
    ),
    # Each of the two by an index of its own.
    f"""
        SELECT 'version', version.version, version.id, version.version, NULL, {_OF_VERSION}
        WHERE version.project_id = %(project)s AND version.version = ANY(%(version)s)
            AND version.commit IS NULL AND {_OF_PRODUCTS}
        UNION ALL
        SELECT 'version', version.version, version.id, version.version, NULL, {_OF_VERSION}
        WHERE LEFT(version.commit, {COMMIT_PREFIX}) = ANY(%(commit_prefix)s) AND {_OF_PRODUCTS}
        UNION ALL
        SELECT 'version alias', alias.name, version.id, version.version, NULL, {_VERSION}, alias.id,
            alias.since
        FROM results_serverversion version JOIN results_alias alias ON alias.version_id = version.id
        WHERE alias.project_id = %(project)s AND alias.name = ANY(%(version_name)s)
        UNION ALL
        SELECT 'environment', digest, id, '', NULL, {_NO_VERSION}, {_NO_ALIAS} FROM results_environment
        WHERE project_id = %(project)s AND digest = ANY(%(environment)s)
        UNION ALL
        SELECT 'branch', branch, NULL, '', NULL, {_NO_VERSION}, {_NO_ALIAS} FROM results_surroundingscount
        WHERE project_id = %(project)s AND branch = ANY(%(branch)s)
        UNION ALL
        SELECT 'content', digest, id, '', NULL, {_NO_VERSION}, {_NO_ALIAS}
        FROM results_configurationcontent
        WHERE project_id = %(project)s AND digest = ANY(%(content)s)
        """,  # noqa: S608 - of our own names
]
# Without blanks that say nothing: the driver reads a text of up to 4,096 characters only once.
_FIND = " ".join(" UNION ALL ".join(_PARTS_OF_FIND).split()).replace(", ", ",")


def _wanted_names(
    records: Sequence[RunRecord],
    environments: Iterable[Environment | None],
    contents: Iterable[ConfigurationContent | None],
) -> Mapping[str, list[str]]:
    """Return the parameters of the statement: the names that the records use, by kind."""
    versions = {record.version: parse_version(record.version).version for record in records}
    names: dict[str, set[str]] = {
        **{kind: {getattr(record, kind) for record in records} for kind in NAMED},
        "version": set(versions.values()),
        "version_name": {
            version_name(versions[one.version], one.build, one.commit and one.commit.lower())
            for one in records
        },
        "commit_prefix": {one.commit[:COMMIT_PREFIX].lower() for one in records if one.commit},
        "branch": {one.branch for one in records if one.branch and not is_of_pull_request(one.branch)},
        "environment": {one.digest for one in environments if one},
        "content": {one.digest for one in contents if one},
    }
    return {kind: sorted(of_kind) for kind, of_kind in names.items()}


@dataclass(frozen=True, slots=True)
class _Found:
    """The stored rows that the records may name.

    ``versions`` are those without a commit, and those whose commit begins as one that is named.
    ``version_aliases`` are by product and old name.
    """

    things: _Things
    versions: Sequence[ServerVersion]
    version_aliases: Mapping[tuple[int, str], tuple[ServerVersion, Followed]]
    environments: dict[str, int]
    contents: dict[str, int]
    branches: Collection[str]


def _find(project: Project, wanted: Mapping[str, list[str]]) -> _Found:
    with connection.cursor() as cursor:
        cursor.execute(_FIND, {**wanted, "project": project.pk})
        rows = cursor.fetchall()
    things: _Things = {kind: {} for kind in NAMED}
    versions: list[ServerVersion] = []
    aliases: dict[tuple[int, str], tuple[ServerVersion, Followed]] = {}
    ids: dict[str, dict[str, int]] = {"environment": {}, "content": {}, "branch": {}}
    # A renamed thing is found by its old name, even if another thing has that name now.
    for kind, used, pk, name, options, *of_version, alias_id, since in sorted(rows, key=_is_alias):
        what = kind.removesuffix(" alias")
        if what in things:
            followed = Followed(alias_id, since) if alias_id else None
            things[what][used] = Thing(pk, name, json.loads(options) if options else None, followed)
        elif what == "version":
            version = _version_of(project, pk, name, of_version)
            if kind == what:
                versions.append(version)
            else:
                aliases[version.product_id, used] = version, Followed(alias_id, since)
        else:
            ids[kind][used] = pk
    things["product"] = _in_any_case(things["product"], wanted["product"])
    return _Found(things, versions, aliases, ids["environment"], ids["content"], ids["branch"])


def _in_any_case(things: Mapping[str, Thing], names: Iterable[str]) -> dict[str, Thing]:
    """Return the things by the names that are wanted; one of exactly this name comes first."""
    by_case = {name.casefold(): thing for name, thing in things.items()}
    found = {name: things.get(name) or by_case.get(name.casefold()) for name in names}
    return {name: thing for name, thing in found.items() if thing}


def _is_alias(row: Sequence[Any]) -> bool:
    return bool(row[0].endswith(" alias"))


def _version_of(project: Project, pk: int, version: str, row: Sequence[Any]) -> ServerVersion:
    product_id, build, commit, committed_at, sort_key = row
    return ServerVersion(
        pk=pk,
        project_id=project.pk,
        product_id=product_id,
        version=version,
        sort_key=sort_key,
        build=build,
        commit=commit,
        committed_at=committed_at,
    )


# --- named things -----------------------------------------------------------------------------------------


def _find_or_make_things(
    project: Project, wanted: Mapping[str, list[str]]
) -> tuple[_Found, dict[str, list[str]]]:
    """Find the rows that the records name, by name or old name, and return the new names of each kind."""
    found = _find(project, wanted)
    new = {
        kind: [name for name in wanted[kind] if name not in of_kind] for kind, of_kind in found.things.items()
    }
    new["product"] = list({name.casefold(): name for name in reversed(new["product"])}.values())[::-1]
    for kind, names in new.items():
        if names:
            rows = (NAMED[kind](project=project, name=name) for name in names)
            NAMED[kind]._default_manager.bulk_create(rows, ignore_conflicts=True)
    return (_find(project, wanted) if any(new.values()) else found), new


def _find_or_make(
    project: Project,
    model: type[Model],
    wanted: Sequence[Environment | ConfigurationContent | None],
    found: Mapping[str, int],
) -> Mapping[str, int]:
    """Return the ids of all that are wanted, by digest; of several with one digest the first is made."""
    missing = {one.digest: one for one in reversed(wanted) if one and one.digest not in found}
    if not missing:
        return found
    manager = model._default_manager
    manager.bulk_create([missing[digest] for digest in sorted(missing)], ignore_conflicts=True)
    made = manager.filter(project=project, digest__in=list(missing))
    return {**found, **dict(made.values_list("digest", "pk"))}


def _new_name_warnings(kind: str, project: Project, new: Sequence[str]) -> dict[tuple[str, str], str]:
    if not new:
        return {}
    model, column = (NAMED[kind], "name") if kind in NAMED else (SurroundingsCount, kind)
    others = model._default_manager.filter(project=project).exclude(**{f"{column}__in": new})
    names = others.order_by(column).values_list(column, flat=True).distinct()
    known: list[str] = list(names) if len(new) <= _LOOK_FOR_NEAREST else []
    return {(kind, name): _new_name_warning(kind, name, known) for name in new}


def _new_name_warning(kind: str, name: str, known: Sequence[str]) -> str:
    near = nearest(name, known)
    suggestion = f"; the nearest known one is '{near[0]}'" if near else ""
    return f"new {kind} '{name}'{suggestion}"


# --- server versions --------------------------------------------------------------------------------------

_VersionKey = tuple[int, str, str, str | None]


def _versions(
    project: Project,
    found: _Found,
    looked_for: Collection[str],
    products: Sequence[Thing],
    records: Sequence[RunRecord],
) -> tuple[list[ServerVersion], list[list[tuple[int, str]]]]:
    """Find or make the server version of each record; ``products`` are those of the records, in order.

    With each come the old names that led there: alias and warning. ``looked_for`` are the names of versions
    whose aliases were found.
    """
    parsed = [parse_version(record.version) for record in records]
    commits = _known_commits(found.versions, products, records)
    keys: list[_VersionKey] = [
        (product.pk, version.version, record.build, commits.get((product.pk, record.commit or "")))
        for product, version, record in zip(products, parsed, records, strict=True)
    ]
    sort_keys: dict[_VersionKey, str] = {}
    for key, product, record in zip(keys, products, records, strict=True):
        _, version, _, commit = key
        new = sort_key(version, product=product.name, commit=commit, measured_at=record.started_at)
        sort_keys[key] = min(new, sort_keys.get(key, new))
    by_key = {key: version for version in found.versions if (key := _key(version)) in sort_keys}
    aliases = _version_aliases(project, found, looked_for, sort_keys.keys() - by_key.keys())
    by_key |= {key: version for key, (version, _) in aliases.items()}
    if missing := sorted(sort_keys.keys() - by_key.keys(), key=lambda key: (*key[:3], key[3] or "")):
        by_key |= _make_versions(project, missing, sort_keys)
    versions = [by_key[key] for key in keys]
    _fill_commit_times(versions, records)
    _note_earlier_runs({by_key[key].pk: (by_key[key], new) for key, new in sort_keys.items()})
    followed = {
        key: [(old.alias_id, old.warning("version", version_name(*key[1:]), str(version)))]
        for key, (version, old) in aliases.items()
    }
    return versions, [followed.get(key, []) for key in keys]


def _key(version: ServerVersion) -> _VersionKey:
    return version.product_id, version.version, version.build, version.commit


def _known_commits(
    candidates: Iterable[ServerVersion], products: Sequence[Thing], records: Sequence[RunRecord]
) -> dict[tuple[int, str], str]:
    """Return the commits as they are known, by product and the commit as a record writes it.

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


def _make_versions(
    project: Project, keys: Sequence[_VersionKey], sort_keys: Mapping[_VersionKey, str]
) -> dict[_VersionKey, ServerVersion]:
    """Make versions; one that another upload made meanwhile is taken, as an update that changes nothing."""
    versions = [
        ServerVersion(
            project=project,
            product_id=product,
            version=version,
            build=build,
            commit=commit,
            sort_key=sort_keys[product, version, build, commit],
        )
        for product, version, build, commit in keys
    ]
    identity = ["project", "product", "version", "build", "commit"]
    made = ServerVersion.objects.bulk_create(
        versions, update_conflicts=True, unique_fields=identity, update_fields=["version"]
    )
    return dict(zip(keys, made, strict=True))


def _version_aliases(
    project: Project, found: _Found, looked_for: Collection[str], keys: Collection[_VersionKey]
) -> dict[_VersionKey, tuple[ServerVersion, Followed]]:
    """Return the versions that are called by an old name, by the key that has it."""
    targets = dict(found.version_aliases)
    names = {version_name(*key[1:]) for key in keys}
    # A short commit that is known by its whole name was not looked for by that one.
    if others := names - set(looked_for):
        rows = Alias.objects.filter(project=project, name__in=others, version__isnull=False)
        for alias in rows.select_related("version"):
            if alias.version:
                followed = Followed(alias.pk, alias.since)
                targets[alias.version.product_id, alias.name] = alias.version, followed
    named = {key: targets.get((key[0], version_name(*key[1:]))) for key in keys}
    return {key: target for key, target in named.items() if target}


def _fill_commit_times(versions: Sequence[ServerVersion], records: Sequence[RunRecord]) -> None:
    """Fill commit times by the first record that says one; a time once known stays."""
    filled = {}
    for version, record in zip(versions, records, strict=True):
        if record.committed_at and version.commit and version.committed_at is None:
            version.committed_at = record.committed_at
            if not order_kind(version.sort_key):
                version.sort_key = sort_key(
                    version.version, commit=version.commit, known_at=version.committed_at
                )
            filled[version.pk] = version
    if filled:
        rows = [filled[version] for version in sorted(filled)]
        ServerVersion.objects.bulk_update(rows, ["committed_at", "sort_key"], batch_size=100)
        follow_versions(filled)


def _note_earlier_runs(keys: Mapping[int, tuple[ServerVersion, str]]) -> None:
    """Sort versions without an order by runs that are earlier than those that were known.

    ``keys`` are versions with the keys that the records give them, by their ids.
    """
    earlier = {
        pk: key
        for pk, (version, key) in sorted(keys.items())
        if key < version.sort_key and not order_kind(version.sort_key)
    }
    for pk, key in earlier.items():
        # Another upload may have an earlier one still, or just have said its commit time.
        ServerVersion.objects.filter(pk=pk, sort_key__gt=key, sort_key__lte=keys[pk][0].sort_key).update(
            sort_key=key
        )
    if earlier:
        follow_versions(earlier)


# --- contents ---------------------------------------------------------------------------------------------


def _environment(project: Project, record: RunRecord) -> Environment | None:
    facts = dict(record.environment)
    return Environment(project=project, digest=environment_digest(facts), facts=facts) if facts else None


def environment_digest(facts: Mapping[str, Any]) -> str:
    """Return a digest by which the same facts are found again."""
    return _digest(facts)


def _content(project: Project, record: RunRecord) -> ConfigurationContent | None:
    """Return the content of a configuration; None where nothing is known.

    A text in which no settings were understood counts as it is.
    """
    text = record.configuration_text or ""
    if not record.settings and not text.strip():
        return None
    meaningful = meaningful_settings(record.settings)
    digest = content_digest(text, meaningful, has_settings=bool(record.settings))
    return ConfigurationContent(project=project, digest=digest, text=text, settings=meaningful)


def content_digest(text: str, meaningful: Mapping[str, str], *, has_settings: bool) -> str:
    """Return a digest by which the same settings are found again.

    ``has_settings``: some were understood, even if none is meaningful.
    """
    return _digest(meaningful if has_settings else text.strip())


def meaningful_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Return settings in one spelling (``innodb_flush_method``), without those that differ at each start."""
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
    """Add facts of machines that are not known yet; known ones stay."""
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
    """Give each workload the options of its first run that says any."""
    filled = {}
    for record in records:
        workload = workloads[record.workload]
        if record.options and not workload.options:
            workload.options = dict(record.options)
            filled[workload.pk] = workload
    rows = [Workload(pk=pk, options=filled[pk].options) for pk in sorted(filled)]
    Workload.objects.bulk_update(rows, ["options"], batch_size=100)


def differing_options(workload: Thing, options: Mapping[str, Fact]) -> list[str]:
    """Return the sorted names of the options in which a run differs from the first run of its workload."""
    if not options or not workload.options:
        return []
    names = options.keys() | workload.options.keys()
    return sorted(name for name in names if options.get(name) != workload.options.get(name))
