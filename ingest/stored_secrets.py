"""Masks secrets in what is stored already, by the rules that hold for new files now.

Raw files stay as they were received.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from django.apps import apps
from django.db import transaction
from django.db.models import Model, QuerySet

from benchdash.accounts.models import Project
from benchdash.results.dimensions import content_digest, environment_digest
from benchdash.results.models import ConfigurationContent, Environment, Measurement, Run
from benchdash.results.services import hold_results, touch
from benchdash.results.sessions import SESSION_TAG
from benchdash.results.summaries import recounted
from ingest.errors import FieldsError
from ingest.masking import mask_path_map, mask_said, mask_text, mask_value
from ingest.metadata.upload_metadata import metadata_digest, metadata_from_json
from ingest.models import Upload

BATCH: Final = 500


@dataclass(slots=True)
class MaskedTable:
    """The outcome of the rows of one table.

    ``fields`` counts the changed rows by field. ``merged`` rows became equal to another one and are gone;
    ``left`` are uploads that keep their old digest, because another one has the new one already.
    """

    table: str
    rows: int = 0
    changed: int = 0
    merged: int = 0
    left: int = 0
    fields: Counter[str] = field(default_factory=Counter)


def mask_again(
    project: Project | None = None,
    *,
    store: bool = True,
    progress: Callable[[MaskedTable], None] = lambda _: None,
) -> Iterator[MaskedTable]:
    """Mask every field of MASKED, table by table, in transactions of some hundred rows.

    ``progress`` is called after each of them. Done again, it changes nothing. Without ``store`` nothing is
    changed, and the outcomes say what would be.
    """
    for label, masked in MASKED.items():
        model = apps.get_model(label)
        outcome = MaskedTable(model._meta.db_table)
        rows = model._default_manager.order_by("pk")
        if project:
            rows = rows.filter(**{masked.to_project: project.pk})
        last: int | None = 0
        while (last := _mask_batch(rows.filter(pk__gt=last), masked, outcome, store=store)) is not None:
            progress(outcome)
        yield outcome


def _mask_batch(rows: QuerySet[Any], masked: "Masked", outcome: MaskedTable, *, store: bool) -> int | None:
    """Mask a batch; return the key of its last row, None where there are no more."""
    with transaction.atomic():
        # Uploads under way that point at these rows need not wait.
        locked = rows.select_for_update(of=("self",), no_key=True).only(*masked.fields, *masked.also_read)
        batch = list(locked[:BATCH])
        last = batch[-1].pk if batch else None
        for row in batch:
            if differing := _mask_row(row, masked):
                outcome.fields.update(differing)
                outcome.changed += 1
                masked.save(row, differing, outcome)
        outcome.rows += len(batch)
        if not store:
            transaction.set_rollback(True)
    return last


def _mask_row(row: Model, masked: "Masked") -> list[str]:
    """Mask the fields of a row; return the names of those that changed."""
    changed = []
    for name in masked.fields:
        before = getattr(row, name)
        after = masked.maskers.get(name, mask_value)(before)
        if after != before:
            setattr(row, name, after)
            changed.append(name)
    return changed


def _masked_metadata(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata as the same upload would be stored today."""
    path_map = stored.get("path_map", {})
    masked = {**mask_said(stored), **({"path_map": mask_path_map(path_map)} if path_map else {})}
    if masked == stored:
        return masked
    try:
        return metadata_from_json(stored).as_json()
    except FieldsError:
        return masked


def _masked_tags(tags: Sequence[str]) -> list[str]:
    """Mask tags, but not those by which sessions are told apart."""
    return [tag if tag.startswith(SESSION_TAG) else mask_text(tag) for tag in tags]


# --- saving -------------------------------------------------------------------------------------------------


def _save(row: Model, changed: Sequence[str], _outcome: MaskedTable) -> None:
    row.save(update_fields=changed)


def _save_upload(upload: Upload, changed: Sequence[str], outcome: MaskedTable) -> None:
    """Save an upload, and the digest of its metadata unless another upload of the same file has it.

    The two stay apart then: which of them counts is for people to say.
    """
    upload.save(update_fields=changed)
    if "metadata" not in changed:
        return
    companions = upload.companions.values_list("kind", "raw__sha256")
    digest = _digest_of_metadata(upload, companions)
    same = Upload.objects.filter(project=upload.project_id, raw=upload.raw_id, metadata_digest=digest)
    if same.exclude(pk=upload.pk).exists():
        outcome.left += 1
        return
    upload.metadata_digest = digest
    upload.save(update_fields=["metadata_digest"])


def _digest_of_metadata(upload: Upload, companions: Any) -> str:
    try:
        return metadata_digest(metadata_from_json(upload.metadata), companions, bound_to=upload.bound_to)
    except FieldsError:
        # It could not be sent again, and so needs no digest to be found by.
        return upload.metadata_digest


def _save_content(content: ConfigurationContent, changed: Sequence[str], outcome: MaskedTable) -> None:
    had_settings = bool(content.settings) or content.digest == content_digest("", {}, has_settings=True)
    digest = content_digest(content.text, content.settings, has_settings=had_settings)
    _save_by_digest(content, digest, changed, outcome, of_run="content")


def _save_environment(environment: Environment, changed: Sequence[str], outcome: MaskedTable) -> None:
    _save_by_digest(
        environment, environment_digest(environment.facts), changed, outcome, of_run="environment"
    )


def _save_by_digest(
    row: ConfigurationContent | Environment,
    digest: str,
    changed: Sequence[str],
    outcome: MaskedTable,
    *,
    of_run: str,
) -> None:
    """Save a row under its new digest, or give its runs to the row that has it: then the two are one.

    A run that is sent again finds the row by that digest.
    """
    hold_results(row.project, alone=True)
    model = type(row)
    same = model._default_manager.filter(project=row.project_id, digest=digest).exclude(pk=row.pk).first()
    if same is None:
        row.digest = digest
        row.save(update_fields=[*changed, "digest"])
        return
    runs = Run.objects.filter(**{of_run: row.pk})
    series = Measurement.objects.filter(run__in=runs).order_by().values_list("series_id", flat=True)
    touched = list(series.distinct())
    run_ids = list(runs.values_list("pk", flat=True))
    with recounted(Run.objects.filter(pk__in=run_ids)):
        runs.update(**{of_run: same.pk})
    row.delete()
    # Runs whose settings differed are one group now.
    touch(touched, quiet=True)
    outcome.merged += 1


# --- what is masked -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Masked:
    """The fields of a model that hold what people and files say; ``to_project`` leads to its project.

    ``maskers`` are for fields that are masked in a way of their own, ``also_read`` what ``save`` looks at.
    """

    fields: tuple[str, ...]
    to_project: str = "project"
    maskers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    save: Callable[..., None] = _save
    also_read: tuple[str, ...] = ()


# A test knows every field of text or JSON that does not stand here, and why.
MASKED: Final[Mapping[str, Masked]] = {
    "accounts.Project": Masked(("notice",), to_project="pk"),
    "accounts.AuditEntry": Masked(("subject", "reason", "detail")),
    "results.Hardware": Masked(("facts",)),
    "results.Environment": Masked(("facts",), save=_save_environment, also_read=("project", "digest")),
    "results.ConfigurationContent": Masked(
        ("text", "settings"), save=_save_content, also_read=("project", "digest")
    ),
    "results.Workload": Masked(("options",)),
    "results.Merge": Masked(("source",), maskers={"source": partial(mask_said, named=("name",))}),
    "results.Run": Masked(
        ("options", "tags", "notes", "warnings", "excluded_reason"), maskers={"tags": _masked_tags}
    ),
    "results.Baseline": Masked(("reason",)),
    "results.Annotation": Masked(("text",)),
    "regressions.Incident": Masked(("reason", "cause", "bug")),
    "regressions.IncidentEvent": Masked(("reason", "detail"), to_project="incident__project"),
    "regressions.Comment": Masked(("text",), to_project="incident__project"),
    "articles.Article": Masked(("title", "prose")),
    "articles.Block": Masked(("heading", "text"), to_project="article__project"),
    "regressions.FailingPlace": Masked(("error", "traceback")),
    "alerts.Alert": Masked(("error", "subject")),
    "alerts.Digest": Masked(("error",)),
    "alerts.Subscription": Masked(("refusal",)),
    "alerts.Confirmation": Masked(("error",), to_project="subscription__project"),
    "alerts.MailTest": Masked(("error",)),
    "ingest.Upload": Masked(
        ("name", "metadata", "errors", "warnings"),
        maskers={"metadata": _masked_metadata},
        save=_save_upload,
        also_read=("project", "raw", "metadata_digest"),
    ),
    "ingest.ArchiveFile": Masked(("name", "errors"), to_project="archive__project"),
    "ingest.Companion": Masked(("name",), to_project="upload__project"),
}
