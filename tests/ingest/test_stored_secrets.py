from io import StringIO

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import AuditEntry
from benchdash.accounts.services import audit
from benchdash.alerts.models import Alert, Digest
from benchdash.articles.models import Article, Block
from benchdash.regressions.models import Comment, Incident, IncidentEvent
from benchdash.results.models import (
    Annotation,
    ConfigurationContent,
    Environment,
    Hardware,
    Run,
    TouchedSeries,
    Workload,
)
from ingest import stored_secrets
from ingest.metadata.fields import Metadata
from ingest.metadata.upload_metadata import metadata_digest
from ingest.models import ArchiveFile, Companion, Upload
from ingest.receiving.arrivals import CompanionFile
from ingest.storage.raw_bytes import RawData
from ingest.stored_secrets import MASKED
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_run
from tests.ingest.sending import SAID, accept

pytestmark = pytest.mark.django_db

# As an older benchdash stored it.
LEAK = "wsrep_sst_auth=sst:geheim"
LEAKS = {"a": LEAK, "list": ["curl", "-u", "bench:geheim"]}


def spoil(row, **values):
    """As if an older benchdash had stored these."""
    type(row)._base_manager.filter(pk=row.pk).update(**values)


def command(*arguments):
    out = StringIO()
    call_command("mask_again", *arguments, stdout=out, stderr=out)
    return out.getvalue()


_SERIES_ARE_TOLD_APART_BY_IT = ("build", "branch", "counterpart")
# What holds no secret, or cannot be changed without changing what it means.
EXEMPT = {
    # Kept as hashes, or chosen by a person to be signed in with or shown.
    "accounts.User": ("password", "email", "name", "time_zone"),
    "accounts.Project": ("slug", "name", "options"),
    "accounts.Token": ("name", "prefix", "digest", "scopes", "hardware"),
    "accounts.Trust": ("issuer", "repository", "repository_id", "branch", "environment", "workflow"),
    "accounts.AuditEntry": ("action",),
    # Names identify: masked, two of them would become one.
    "results.Product": ("name",),
    "results.Hardware": ("name",),
    "results.Configuration": ("name",),
    "results.Workload": ("name",),
    "results.Merge": ("name",),
    "results.Alias": ("name",),
    "results.ServerVersion": ("version", "sort_key", "build", "commit", "order"),
    "results.Run": ("key", "branch", "counterpart"),
    "ingest.Copy": ("key",),
    "results.PullRequest": ("base_branch",),
    # Given to be sent to the code host, and shown nowhere.
    "alerts.CodeHost": ("api_url", "repository", "encrypted_secret", "error"),
    "alerts.PullRequestAnswer": ("commit", "told", "error"),
    "results.VersionPlace": (*_SERIES_ARE_TOLD_APART_BY_IT, "sort_key", "commit"),
    "results.SurroundingsCount": ("branch",),
    "results.SubjectCount": ("branch", "counterpart"),
    "results.ParameterCount": ("branch", "counterpart"),
    "results.Series": (*_SERIES_ARE_TOLD_APART_BY_IT, "line", "metric", "unit", "printed_unit"),
    "results.ProjectMetric": ("name", "unit"),
    "results.Baseline": _SERIES_ARE_TOLD_APART_BY_IT,
    "results.WorkloadGroup": ("name", "patterns"),
    "results.IntervalSamples": ("source", "columns", "rows"),
    "regressions.Incident": ("branch", "line", "metric", "origin", "snoozed_until_version"),
    "regressions.IncidentEvent": ("by_name",),
    "regressions.Silence": (*_SERIES_ARE_TOLD_APART_BY_IT, "line"),
    "regressions.ChangePoint": ("origin",),
    "regressions.PlaceOrder": (*_SERIES_ARE_TOLD_APART_BY_IT, "line", "groups"),
    "regressions.FailingPlace": (*_SERIES_ARE_TOLD_APART_BY_IT, "line"),
    "regressions.Comment": ("author_name",),
    "articles.Article": ("slug",),
    # The address of a page.
    "articles.Block": ("page", "query"),
    "alerts.Subscription": (
        *("address", "branch", "key", "workload_group", "metric", "kinds", "time_zone"),
        "encrypted_secret",  # made here, to sign with
    ),
    "alerts.Alert": ("address",),
    "alerts.Digest": ("address",),
    "alerts.MailTest": ("address",),
    "alerts.Confirmation": ("address",),
    # Digests: made anew where what they are of is masked.
    "results.Environment": ("digest",),
    "results.ConfigurationContent": ("digest",),
    "ingest.Upload": ("metadata_digest", "format"),
    "ingest.RawFile": ("sha256", "storage_name"),
    "ingest.RawStorage": ("identity",),
    # The name of a project, as in accounts.Project.
    "ingest.Removal": ("slug", "name"),
    "ingest.Companion": ("format",),
    # Names and hashes; they are gone after a day.
    "rest.StoredAnswer": ("asker", "key", "request", "location", "rights"),
}


def texts_of(model):
    return [
        one.name
        for one in model._meta.concrete_fields
        if isinstance(one, models.CharField | models.TextField | models.JSONField | ArrayField)
        and not one.choices
    ]


def test_every_text_of_every_model_is_masked_or_exempt():
    ours = [
        model for model in apps.get_models() if model.__module__.partition(".")[0] in {"benchdash", "ingest"}
    ]
    for model in ours:
        label = model._meta.label
        masked = MASKED[label].fields if label in MASKED else ()
        exempt = EXEMPT.get(label, ())
        assert not set(masked) & set(exempt), label
        assert sorted([*masked, *exempt]) == sorted(texts_of(model)), label
    assert MASKED.keys() | EXEMPT.keys() <= {model._meta.label for model in ours}


def everything_spoiled(project):
    """A row of every table, with a secret in every field that people and files fill; the fields."""
    upload = accept(project, companions=[CompanionFile("companion", "x", RawData(b"x"))]).upload
    run = Run.objects.get(upload_id=upload.pk)
    content = ConfigurationContent.objects.create(project=project, digest="a", text=LEAK, settings=LEAKS)
    environment = Environment.objects.create(project=project, digest="a", facts=LEAKS)
    spoil(run, content=content, environment=environment, options=LEAKS, tags=[LEAK], notes=LEAK)
    spoil(run, warnings=[LEAK], excluded_reason=LEAK)
    spoil(upload, metadata={**SAID, "notes": LEAK, "meta": LEAKS}, name=LEAK)
    spoil(upload, errors=[{"line": 1, "message": LEAK}], warnings=[LEAK])
    spoil(Companion.objects.get(), name=LEAK)
    ArchiveFile.objects.create(archive=upload, number=1, name=LEAK, errors=[{"line": 1, "message": LEAK}])
    spoil(Hardware.objects.get(), facts=LEAKS)
    spoil(Workload.objects.get(), options=LEAKS)
    audit(project, NOBODY, "upload changed", LEAK, reason=LEAK, detail={"before": LEAKS})
    article = Article.objects.create(project=project, slug="a", title=LEAK, prose=LEAK)
    Block.objects.create(article=article, position=1, heading=LEAK, text=LEAK, page="compare", query="")
    incident = make_incident(project)
    spoil(incident, reason=LEAK)
    spoil(incident, bug=LEAK)
    IncidentEvent.objects.create(incident=incident, what="state", reason=LEAK, detail=LEAKS)
    Annotation.objects.create(project=project, at=timezone.now(), text=LEAK)
    Comment.objects.create(incident=incident, author_name="a", text=LEAK)
    now = timezone.now()
    Digest.objects.create(project=project, address="a@example.org", since=now, until=now, error=LEAK)
    Alert.objects.create(project=project, incident=incident, address="a@example.org", error=LEAK)
    spoil(project, notice=LEAK)


def everything_stored():
    """All that there is in the tables, as one text."""
    labels = [*MASKED, "accounts.Project"]
    return "\n".join(
        str(list(apps.get_model(label)._base_manager.values_list(*MASKED[label].fields))) for label in labels
    )


def test_what_was_stored_before_a_rule_is_masked():
    project = make_project()
    everything_spoiled(project)
    assert everything_stored().count("geheim") > 30
    said = command()
    assert "geheim" not in everything_stored()
    assert "results_run: 1 of " in said
    assert "rows changed (errors 1, metadata 1, name 1, warnings 1)" in said
    assert Run.objects.filter(
        options={"a": "wsrep_sst_auth=***", "list": ["curl", "-u", "bench:***"]}
    ).exists()
    assert not Incident.objects.exclude(reason__in=("", "wsrep_sst_auth=***")).exists()


def test_masking_again_changes_nothing_more():
    everything_spoiled(make_project())
    command()
    before = everything_stored()
    said = command()
    assert everything_stored() == before
    assert all(" 0 of " in line for line in said.splitlines()), said


def test_a_dry_run_says_the_same_and_stores_nothing():
    everything_spoiled(make_project())
    before = everything_stored()
    would = command("--dry-run")
    assert everything_stored() == before
    assert would == command() + "nothing was stored\n"


def test_one_project_alone_can_be_masked():
    one, other = make_project("one"), make_project("other")
    spoil(make_run(project=one), notes=LEAK)
    spoil(make_run(project=other), notes=LEAK)
    command("--project", "one")
    assert list(Run.objects.order_by("project__slug").values_list("notes", flat=True)) == [
        "wsrep_sst_auth=***",
        LEAK,
    ]
    with pytest.raises(CommandError, match="no project is called 'none'"):
        command("--project", "none")


def test_the_same_upload_is_still_known_after_its_metadata_were_masked():
    project = make_project()
    upload = accept(project, notes="x").upload
    # Stored before there was a rule: with the secret, and with the digest of it.
    before = Metadata(**SAID, notes=LEAK)
    spoil(upload, metadata=before.as_json(), metadata_digest=metadata_digest(before))
    command()
    again = accept(project, notes=LEAK)
    assert again.duplicate
    assert again.upload.pk == upload.pk


def test_two_uploads_that_differ_in_a_secret_only_stay_two():
    project = make_project()
    first, second = (accept(project, notes=notes).upload for notes in ("x", "y"))
    for upload, notes in ((first, LEAK), (second, LEAK + "2")):
        before = Metadata(**SAID, notes=notes)
        spoil(upload, metadata=before.as_json(), metadata_digest=metadata_digest(before))
    assert "1 left as they were" in command()
    assert [one.metadata["notes"] for one in Upload.objects.order_by("pk")] == ["wsrep_sst_auth=***"] * 2
    assert accept(project, notes=LEAK).upload.pk == first.pk
    assert "left as they were" not in command()


def test_contents_that_differ_in_a_secret_only_become_one():
    project = make_project()
    fields = {"configuration_text": "x", "project": project}
    runs = [make_run(settings={"a": str(number)}, **fields) for number in range(2)]
    for number, run in enumerate(runs):
        spoil(run.content, text=f"wsrep_sst_auth=s:{number}", settings={"wsrep_sst_auth": f"s:{number}"})
    TouchedSeries.objects.all().delete()
    assert "results_configurationcontent: 2 of 2 rows changed (settings 2, text 2), 1 of them" in command()
    [content] = ConfigurationContent.objects.all()
    assert set(Run.objects.values_list("content", flat=True)) == {content.pk}
    assert TouchedSeries.objects.filter(quiet=True).exists()
    # A run that comes in later finds it by its digest.
    again = make_run(settings={"wsrep_sst_auth": "***"}, **fields)
    assert again.content_id == content.pk


def test_environments_that_differ_in_a_secret_only_become_one():
    project = make_project()
    runs = [make_run(environment={"a": number}, project=project) for number in range(2)]
    for number, run in enumerate(runs):
        spoil(run.environment, facts={"vault_token": f"s{number}"})
    command()
    [environment] = Environment.objects.all()
    assert make_run(environment={"vault_token": "***"}, project=project).environment_id == environment.pk


def test_rows_are_masked_in_batches_of_a_constant_number_of_statements(monkeypatch):
    project = make_project()
    for _ in range(5):
        make_run(project=project)
    monkeypatch.setattr(stored_secrets, "BATCH", 2)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        list(stored_secrets.mask_again(project))
    read = [query["sql"] for query in queries if 'FROM "results_run"' in query["sql"]]
    assert len(read) == 4
    Run.objects.update(notes=LEAK)
    list(stored_secrets.mask_again(project))
    assert set(Run.objects.values_list("notes", flat=True)) == {"wsrep_sst_auth=***"}
    assert AuditEntry.objects.count() == 0
