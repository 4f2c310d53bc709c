"""The subjects of sweeps: the versions of a project, those first in which most was varied."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.addresses import ColumnId
from benchdash.regressions.sweeps.conditions import CONFIGURATION, Factor, Kind
from benchdash.results.points import MeasuredVersion, measured_versions


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a sweep: one version of a branch (empty: a release) beside one counterpart."""

    version: MeasuredVersion
    branch: str
    counterpart: str
    runs: int

    @property
    def id(self) -> str:
        return str(ColumnId(self.version.pk, branch=self.branch, counterpart=self.counterpart))


def subjects(project: Project, *, setting: str = "", most: int | None = None) -> list[Subject]:
    """List what can be swept, that first in which most was varied, then the newest; two statements.

    With a ``setting``, the key of a factor, that first in which it takes most values. ``most`` is a limit.
    """
    factor = Factor.of_key(setting) if setting else None
    told = _told_by(factor) if factor else _NOT_ASKED
    wanted = {"project": project.pk, "most": most, "name": factor.name if factor else ""}
    return _found(_BY_VARIETY.replace("TOLD", told), wanted)


def find_subject(project: Project, identity: str) -> Subject | None:
    """Find a subject by its id; None where no run of it counts. Two statements."""
    wanted = ColumnId.of(identity)
    if wanted is None:
        return None
    found = _found(_OF_VERSION, {"project": project.pk, "version": wanted.version})
    return next((one for one in found if one.id == identity), None)


def _found(statement: str, wanted: dict[str, Any]) -> list[Subject]:
    with connection.cursor() as cursor:
        cursor.execute(statement, wanted)
        rows = cursor.fetchall()
    versions = measured_versions({version for version, *_ in rows})
    return [Subject(versions[version], *rest) for version, *rest in rows]


_SUBJECT: Final = "version_id, branch, counterpart"
_OF_VERSION: Final = f"""
    SELECT {_SUBJECT}, sum(runs)::bigint FROM results_subjectcount
    WHERE project_id = %(project)s AND version_id = %(version)s GROUP BY {_SUBJECT}
"""  # noqa: S608 - of our own names
# Written in SQL because the ORM would repeat the subject in the subquery of each count. Most subjects were
# measured under one thing only: what varies is counted for the others.
_BY_VARIETY: Final = f"""
    WITH subject AS (
        SELECT {_SUBJECT}, sum(runs)::bigint AS runs, max(last_run_at) AS newest, count(*) AS rows
        FROM results_subjectcount WHERE project_id = %(project)s GROUP BY {_SUBJECT}
    ), varied AS (
        SELECT {_SUBJECT}, count(DISTINCT content_id) AS contents,
            count(DISTINCT configuration_id) AS configurations,
            count(DISTINCT environment_id) AS environments, count(DISTINCT hardware_id) AS machines
        FROM subject JOIN results_subjectcount USING ({_SUBJECT})
        WHERE subject.rows > 1 AND project_id = %(project)s GROUP BY {_SUBJECT}
    ), parametrised AS (
        SELECT {_SUBJECT}, count(DISTINCT workload_id) AS workloads
        FROM results_parametercount WHERE project_id = %(project)s GROUP BY {_SUBJECT}
    ), asked AS (
        SELECT {_SUBJECT}, count(DISTINCT told) AS values FROM (TOLD) run GROUP BY {_SUBJECT}
    )
    SELECT {_SUBJECT}, runs FROM subject
    LEFT JOIN varied USING ({_SUBJECT})
    LEFT JOIN parametrised USING ({_SUBJECT})
    LEFT JOIN asked USING ({_SUBJECT})
    ORDER BY greatest(values, 1) DESC, greatest(contents, 1) DESC, greatest(configurations, 1) DESC,
        greatest(environments, 1) DESC, greatest(machines, 1) DESC, greatest(workloads, 1) DESC,
        newest DESC, version_id DESC, branch, counterpart
    LIMIT %(most)s::bigint
"""  # noqa: S608 - of our own names
_NOT_ASKED: Final = f"SELECT {_SUBJECT}, NULL AS told FROM subject WHERE false"  # noqa: S608 - of our own names
_OF_COUNTS: Final = f"""
    SELECT {_SUBJECT}, {{told}} AS told FROM subject JOIN results_subjectcount USING ({_SUBJECT}) {{join}}
    WHERE subject.rows > 1 AND results_subjectcount.project_id = %(project)s
"""  # noqa: S608 - of our own names
_OF_PARAMETER: Final = f"""
    SELECT {_SUBJECT}, workload_id AS told
    FROM results_parametercount JOIN results_workload workload ON workload.id = workload_id
    WHERE results_parametercount.project_id = %(project)s
        AND strpos(workload.name, ' ' || %(name)s || '=') > 0
"""  # noqa: S608 - of our own names
# Nothing counts runs by what their tools were told: this reads all of them.
_OF_OPTION: Final = f"""
    SELECT {_SUBJECT}, jsonb_extract_path_text(options, %(name)s::text) AS told
    FROM results_run WHERE project_id = %(project)s AND excluded_at IS NULL
"""  # noqa: S608 - of our own names
_TOLD_BY: Final[Mapping[Kind, str]] = {
    # Each content once, and not for each of its rows.
    "setting": _OF_COUNTS.format(
        told="content.told",
        join="""
            LEFT JOIN (
                SELECT id, jsonb_extract_path_text(settings, %(name)s::text) AS told
                FROM results_configurationcontent WHERE project_id = %(project)s OFFSET 0
            ) content ON content.id = content_id
        """,
    ),
    "fact": _OF_COUNTS.format(
        told="""coalesce(
            jsonb_extract_path_text(environment.facts, %(name)s::text),
            jsonb_extract_path_text(hardware.facts, %(name)s::text)
        )""",
        join="""
            JOIN results_hardware hardware ON hardware.id = hardware_id
            LEFT JOIN results_environment environment ON environment.id = environment_id
        """,
    ),
    "option": _OF_OPTION,
    "parameter": _OF_PARAMETER,
}


def _told_by(factor: Factor) -> str:
    """Return a statement of what the runs of each subject tell of a factor; null where nothing."""
    if factor.kind == "name":
        column = "configuration_id" if factor == CONFIGURATION else "hardware_id"
        return _OF_COUNTS.format(told=column, join="")
    return _TOLD_BY[factor.kind]
