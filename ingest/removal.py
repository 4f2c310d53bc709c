"""The end of a project: everything that is its own goes, down to its raw files."""

import logging
from collections.abc import Sequence
from functools import partial

from django.core.files.storage import default_storage
from django.db import transaction

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.results.models import IntervalSamples, Measurement, Run
from benchdash.results.services import hold_results
from ingest.models import RawFile, Upload

_log = logging.getLogger(__name__)


@transaction.atomic
def delete_project(project: Project, *, by: Viewer) -> None:
    """Delete a project with its results, incidents, subscriptions, members, tokens and files.

    Its audit log goes with it, so the log of the installation says who did it. Waits for uploads that are
    being recorded.
    """
    hold_results(project, alone=True)
    files = RawFile.objects.filter(project=project).exclude(storage_name="")
    names = list(files.values_list("storage_name", flat=True))
    # The many rows go first and by themselves, so that no run has to be fetched for what hangs on it.
    for model in (Measurement, IntervalSamples):
        model.objects.filter(run__project=project).delete()
    # Runs and uploads protect what they point at, so they go before it.
    Run.objects.filter(project=project).delete()
    Upload.objects.filter(project=project).delete()
    slug = project.slug
    project.delete()
    _log.info("project %s was deleted by %s", slug, by.user or by.token or "the installation")
    transaction.on_commit(partial(_delete_files, names))


def _delete_files(names: Sequence[str]) -> None:
    for name in names:
        default_storage.delete(name)
