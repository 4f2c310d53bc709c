"""What is measured in detail, as much of it in every size: thread counts, a setting, nights, response times.

A machine of its own has it, for comparisons side by side, curves, sweeps, the gate and distributions. What is
kept beside measurements comes along: histograms, intervals, raw files, mails, the audit log, articles.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
from django.db import connection, transaction

from benchdash.accounts.models import Project
from benchdash.articles.models import Article, Block
from benchdash.results.models import (
    Configuration,
    ConfigurationContent,
    Environment,
    Hardware,
    Product,
    Run,
    Series,
    ServerVersion,
    Workload,
)
from benchdash.results.summaries import recount_all
from benchmarks.performance.dataset import (
    METRICS,
    THREADS,
    VERSIONS,
    Dimensions,
    Identifiers,
    Stream,
    load_incidents,
    load_stream,
    versions,
)
from benchmarks.performance.loaded import Detail

MACHINE = "bench-detail"
BRANCH = "detail"
SETTING = "innodb_buffer_pool_size"
COMMITS = 30
_WORKLOADS = 6
RELEASES = 6
_METRICS = METRICS[:4]
_POOLS_GB = (1, 2, 4, 8, 16)
_SERIES_PER_INCIDENT = 4
_ARTICLES = 20
_BESIDE = Path(__file__).with_name("beside.sql")


def load_detail() -> Detail:
    """Into a database that is filled with everything else."""
    rng = np.random.default_rng(2)
    identifiers = Identifiers.following()
    projects = list(Project.objects.filter(slug__startswith="bench-").order_by("pk"))
    with transaction.atomic(), connection.cursor() as cursor:
        for project in projects:
            _load_project(project, identifiers, rng)
        identifiers.remember()
        cursor.execute(_BESIDE.read_text())
    return _loaded(projects[0])


def _loaded(project: Project) -> Detail:
    series = Series.objects.filter(project=project, configuration__name="default")
    of_machine = series.filter(hardware__name=MACHINE)
    known = ServerVersion.objects.filter(project=project).order_by("pk")
    releases = list(known.filter(commit=None)[:VERSIONS])
    runs = Run.objects.filter(project=project, hardware__name=MACHINE).order_by("pk")
    commits = known.filter(pk__in=runs.filter(branch=BRANCH).values("version"))
    uploads = runs.order_by("upload_id").values_list("upload_id", flat=True)
    used = Workload.objects.filter(pk__in=of_machine.values("workload")).order_by("pk")
    return Detail(
        releases=_columns(releases, series.filter(branch="").earliest("pk")),
        columns=_columns(releases[-RELEASES:], of_machine.filter(branch="").earliest("pk")),
        commits=[str(version.commit) for version in commits],
        workloads={workload.name: workload.pk for workload in used},
        run_ids=list(runs.filter(branch="").values_list("pk", flat=True)),
        upload_ids=list(uploads.distinct()),
        articles=list(Article.objects.filter(project=project).values_list("slug", flat=True)),
    )


def _columns(measured: Sequence[ServerVersion], place: Series) -> list[str]:
    return [f"{version.pk}.{place.hardware_id}.{place.configuration_id}" for version in measured]


# --- measurements -------------------------------------------------------------------------------------------


def _load_project(project: Project, identifiers: Identifiers, rng: np.random.Generator) -> None:
    dimensions = Dimensions(
        project=project,
        product=Product.objects.get(project=project),
        workloads=list(Workload.objects.filter(project=project).order_by("pk")[:_WORKLOADS]),
        machines=[Hardware.objects.create(project=project, name=MACHINE)],
        configuration=Configuration.objects.get(project=project),
        content=ConfigurationContent.objects.get(project=project),
        environment=Environment.objects.get(project=project),
    )
    releases = list(ServerVersion.objects.filter(project=project, commit=None).order_by("pk"))[-RELEASES:]
    commits = versions(dimensions, COMMITS, branch=BRANCH)
    load_stream(dimensions, _stream(dimensions, "", releases, _METRICS), identifiers, rng)
    load_stream(dimensions, _stream(dimensions, BRANCH, commits, METRICS[:1]), identifiers, rng)
    for size in _POOLS_GB:
        varied = replace(
            dimensions,
            configuration=Configuration.objects.create(project=project, name=f"pool-{size}G"),
            content=ConfigurationContent.objects.create(
                project=project,
                digest=f"{size:064}",
                text=f"{SETTING} = {size}G\n",
                settings={SETTING: f"{size}G", "innodb_flush_log_at_trx_commit": "1"},
            ),
        )
        load_stream(varied, _stream(varied, "", releases[-1:], METRICS[:1]), identifiers, rng)
    recount_all(project)
    of_machine = Series.objects.filter(
        hardware=dimensions.machines[0], configuration=dimensions.configuration
    )
    load_incidents(dimensions, list(of_machine.order_by("pk"))[::_SERIES_PER_INCIDENT])
    _load_articles(dimensions, releases)


def _stream(
    dimensions: Dimensions, branch: str, measured: Sequence[ServerVersion], metrics: Sequence[str]
) -> Stream:
    return Stream(
        branch=branch,
        machine=dimensions.machines[0],
        versions=measured,
        workloads=dimensions.workloads,
        threads=THREADS,
        metrics=metrics,
        every=timedelta(days=1),
    )


def _load_articles(dimensions: Dimensions, releases: Sequence[ServerVersion]) -> None:
    """Each with two versions side by side, and their curves of one workload."""
    project, machine = dimensions.project, dimensions.machines[0]
    columns = [f"{version.pk}.{machine.pk}.{dimensions.configuration.pk}" for version in releases]
    articles = Article.objects.bulk_create(
        [Article(project=project, slug=f"article-{at}", title=f"Article {at}") for at in range(_ARTICLES)]
    )
    blocks = []
    for at, article in enumerate(articles):
        base, against = columns[at % (RELEASES - 1)], columns[-1]
        workload = dimensions.workloads[at % _WORKLOADS].pk
        of_workload = f"&metric=tps&workload={workload}"
        queries = {
            "pair": f"base={base}&against={against}{of_workload}",
            "curves": f"v={base}&v={against}{of_workload}",
        }
        for position, (page, query) in enumerate(queries.items()):
            blocks.append(Block(article=article, position=position, page=page, query=query))
    Block.objects.bulk_create(blocks)
