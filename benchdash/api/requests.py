"""The bodies of requests.

They are read as JSON is written: a number in quotes is a text, and a name that means nothing here is refused.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any, ClassVar, Final

from rest_framework import serializers

from benchdash.accounts.models import Project
from benchdash.alerts.models import Subscription
from benchdash.alerts.outgoing import MAX_URL
from benchdash.alerts.subscriptions import MAX_HOUR, MAX_WEEKDAY
from benchdash.articles.addresses import MAX_QUERY, PAGES
from benchdash.articles.models import MAX_TITLE
from benchdash.articles.services import MAX_BLOCKS, MAX_PROSE, MAX_TEXT
from benchdash.regressions.links import MAX_LENGTH
from benchdash.regressions.models import Incident
from benchdash.regressions.triage import MAX_TOGETHER
from benchdash.rest.parameters import MAX_ID
from benchdash.results.baselines import MAX_REASON_LENGTH
from benchdash.results.corrections import MAX_RUNS_AT_ONCE
from benchdash.results.metric_corrections import WISHES
from benchdash.results.models import ProjectMetric, Series
from benchdash.results.pull_requests import MAX_DAYS

_JSON_TYPES: Final = (
    (serializers.BooleanField, bool, "this must be true or false"),
    (serializers.IntegerField, int, "this must be a whole number"),
    (serializers.FloatField, int | float, "this must be a number"),
    (serializers.CharField, str, "this must be a text"),
    (serializers.ChoiceField, str, "this must be a text"),
)


def _type_error(field: Any, value: Any) -> str | None:
    """Return what is wrong with the type of a JSON value, which DRF would convert without a word."""
    if isinstance(field, serializers.ListField):
        inner = value if isinstance(value, list) else []
        return next(filter(None, (_type_error(field.child, one) for one in inner)), None)
    for kind, json_type, message in _JSON_TYPES:
        if isinstance(field, kind):
            is_fine = isinstance(value, json_type) and (json_type is bool or not isinstance(value, bool))
            # JSON knows one kind of numbers: 23.0 is 23.
            is_fine |= json_type is int and isinstance(value, float) and value.is_integer()
            return None if is_fine or value is None else message
    return None


def one_of(*names: str) -> dict[str, Any]:
    """Return the JSON Schema of a body that has at least one of these members."""
    return {"anyOf": [{"required": [name]} for name in names]}


class Body(serializers.Serializer[Any]):
    """A JSON object with these members and no others.

    ``more_schema`` says in JSON Schema what the fields by themselves do not.
    """

    more_schema: ClassVar[Mapping[str, Any]] = {}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = ", ".join(self.fields)
            errors = {
                str(name)[:100]: f"there is no such field here; known: {known}"
                for name in data
                if name not in self.fields
            }
            for name, field in self.fields.items():
                if message := _type_error(field, data.get(name)):
                    errors[name] = message
            if errors:
                raise serializers.ValidationError(errors)
        return super().to_internal_value(data)


class IdField(serializers.IntegerField):
    """The id of a row. One out of these bounds is malformed, not unknown: no row can have it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=MAX_ID, **options)


class CommitField(serializers.RegexField):
    """A commit, or the beginning of one, in lower case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(r"^[0-9a-fA-F]{7,40}$", **options)

    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(data).lower()


class _DaysField(serializers.IntegerField):
    """An option of a project that counts days."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_DAYS, required=False, allow_null=True, **options)


class _MarginField(serializers.FloatField):
    """An option of a project that is a share of speed: 0.1 is 10 %."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0.001, max_value=0.5, required=False, allow_null=True, **options)


class CorrectionRequest(Body):
    """With ``preview`` nothing is changed, and the answer says what would be."""

    reason = serializers.CharField(max_length=1000, allow_blank=True, default="")
    preview = serializers.BooleanField(default=False)


class ProjectRequest(Body):
    """``slug`` is what stands in addresses, for good. Without a ``name`` pages show the slug."""

    slug = serializers.SlugField(max_length=50)
    name = serializers.CharField(max_length=100, required=False)
    visibility = serializers.ChoiceField(
        choices=Project.Visibility.choices, default=Project.Visibility.PRIVATE
    )


class ProjectChange(Body):
    """At least one of these; what is left out stays as it is.

    Results of pull requests are kept for ``pull_request_days``, 0: for ever. What began more than
    ``historical_after_days`` before its file came in is listed and not mailed. A gate passes where it
    excludes a loss of ``gate_row_margin`` in every row and of ``gate_mean_margin`` in their mean. Null is as
    by default.
    """

    more_schema = {"minProperties": 1}

    name = serializers.CharField(max_length=100, required=False)
    visibility = serializers.ChoiceField(choices=Project.Visibility.choices, required=False)
    notice = serializers.CharField(required=False, allow_blank=True)
    raw_files_are_public = serializers.BooleanField(required=False)
    is_relative_only = serializers.BooleanField(required=False)
    pull_request_days = _DaysField()
    historical_after_days = _DaysField()
    gate_row_margin = _MarginField()
    gate_mean_margin = _MarginField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"": [f"give one of {', '.join(self.fields)}"]})
        return attrs


class RenameRequest(CorrectionRequest):
    name = serializers.CharField(max_length=300)


class VersionRequest(CorrectionRequest):
    """``version`` renames; the others correct what is known of the build. Null forgets.

    A version that begins with dotted numbers (``17.2``, ``v1.2.3-rc1``) is sorted by these, and any other by
    ``order``, by when it was released, or by when its commit was made. ``order`` is a text that begins so,
    which sorts any version as if it were called that: ``18.0``. ``released_on`` is the day alone.
    """

    more_schema = one_of("version", "commit", "committed_at", "released_at", "released_on", "order")

    version = serializers.CharField(max_length=100, required=False)
    commit = CommitField(required=False, allow_null=True)
    committed_at = serializers.DateTimeField(required=False, allow_null=True)
    released_at = serializers.DateTimeField(required=False, allow_null=True)
    released_on = serializers.DateField(required=False, allow_null=True)
    order = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=100)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.keys() <= CorrectionRequest().fields.keys():
            raise serializers.ValidationError({"version": ["give a version or a fact to correct"]})
        if "order" in attrs:
            attrs["order"] = attrs["order"] or ""
        if "released_on" in attrs:
            day = attrs.pop("released_on")
            attrs.setdefault("released_at", day and datetime.combine(day, time.min, tzinfo=UTC))
        return attrs


class MergeRequest(CorrectionRequest):
    into = IdField()


_REASON_OF_EXCLUSION: Final = {
    "anyOf": [
        {"properties": {"excluded": {"const": False}}},
        {"required": ["preview"], "properties": {"preview": {"const": True}}},
        {"required": ["reason"], "properties": {"reason": {"minLength": 1}}},
    ]
}


class ExclusionRequest(CorrectionRequest):
    """An exclusion needs a ``reason``, except in a preview."""

    more_schema = _REASON_OF_EXCLUSION

    excluded = serializers.BooleanField()


class SelectorSerializer(Body):
    """Any of these; the rest is taken from the parameters of the same names. Null says nothing."""

    id = IdField(required=False, allow_null=True)
    product = serializers.CharField(required=False, allow_null=True)
    version = serializers.CharField(required=False, allow_null=True)
    build = serializers.CharField(required=False, allow_null=True, allow_blank=True)
    commit = CommitField(required=False, allow_null=True)
    branch = serializers.CharField(required=False, allow_null=True, allow_blank=True)
    hardware = serializers.CharField(required=False, allow_null=True)
    configuration = serializers.CharField(required=False, allow_null=True)
    counterpart = serializers.CharField(required=False, allow_null=True, allow_blank=True)


class TriageRequest(Body):
    """At least one of these. What is left out stays as it is.

    ``wontfix`` is what pages call declined. ``expected`` needs a ``reason``. ``assignee`` is the e-mail
    address of a member; null: nobody. ``bug`` is a number in the bug tracker of the project, or an address.
    A snooze ends at a time, or when that version of the product, or a later one, has been measured; null
    ends it at once.
    """

    more_schema: ClassVar[Mapping[str, Any]] = {"minProperties": 1}

    state = serializers.ChoiceField(choices=Incident.State.choices, required=False)
    assignee = serializers.EmailField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=5000, required=False, allow_blank=True)
    bug = serializers.CharField(max_length=MAX_LENGTH, required=False, allow_blank=True)
    snoozed_until = serializers.DateTimeField(required=False, allow_null=True)
    snoozed_until_version = serializers.CharField(
        max_length=100, required=False, allow_null=True, allow_blank=True
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.keys() - {"ids"}:
            raise serializers.ValidationError(
                {"state": ["give a state, an assignee, a reason, a bug or a snooze"]}
            )
        return attrs


class TriageTogetherRequest(TriageRequest):
    """The incidents, and what is to be the same of all of them: all are changed, or none."""

    more_schema = {"minProperties": 2}

    ids = serializers.ListField(child=IdField(), allow_empty=False, max_length=MAX_TOGETHER)


class CommentRequest(Body):
    text = serializers.CharField(max_length=20_000)


class BlockRequest(Body):
    """A view of an article; ``query`` is the query string of the page's address."""

    page = serializers.ChoiceField(choices=list(PAGES))
    query = serializers.CharField(max_length=MAX_QUERY)
    heading = serializers.CharField(max_length=MAX_TITLE, default="", allow_blank=True)
    text = serializers.CharField(max_length=MAX_TEXT, default="", allow_blank=True)


class ArticleChange(Body):
    """At least one of these."""

    more_schema = {"minProperties": 1}

    title = serializers.CharField(max_length=MAX_TITLE, required=False)
    prose = serializers.CharField(max_length=MAX_PROSE, required=False, allow_blank=True)
    blocks = serializers.ListField(child=BlockRequest(), required=False, max_length=MAX_BLOCKS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"title": ["give a title, prose or blocks"]})
        return attrs


class ArticleRequest(Body):
    project = serializers.CharField(required=False)
    title = serializers.CharField(max_length=MAX_TITLE)
    prose = serializers.CharField(max_length=MAX_PROSE, default="", allow_blank=True)
    blocks = serializers.ListField(child=BlockRequest(), default=list, max_length=MAX_BLOCKS)


class SubscriptionChange(Body):
    """A ``product`` or ``hardware`` may be named before its first result comes in; null or empty: all.

    ``smallest_change`` is a share of speed (0.05 is 5 %). Digests, by ``rhythm`` daily or weekly, are sent at
    ``hour`` in ``time_zone`` (empty: that of the account, else UTC), weekly ones on ``weekday`` (Monday is
    0), and without news where ``all_quiet`` is wished.
    """

    product = serializers.CharField(max_length=100, required=False, allow_null=True, allow_blank=True)
    branch = serializers.CharField(max_length=200, required=False, allow_blank=True)
    hardware = serializers.CharField(max_length=100, required=False, allow_null=True, allow_blank=True)
    workload_group = serializers.CharField(max_length=100, required=False, allow_blank=True)
    metric = serializers.CharField(max_length=100, required=False, allow_blank=True)
    smallest_change = serializers.FloatField(required=False, allow_null=True)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=Incident.Kind.choices), required=False, min_length=1
    )
    rhythm = serializers.ChoiceField(choices=Subscription.Rhythm.choices, required=False)
    hour = serializers.IntegerField(required=False, min_value=0, max_value=MAX_HOUR)
    weekday = serializers.IntegerField(required=False, min_value=0, max_value=MAX_WEEKDAY)
    time_zone = serializers.CharField(max_length=64, required=False, allow_blank=True)
    all_quiet = serializers.BooleanField(required=False)


class SubscriptionRequest(SubscriptionChange):
    """A subscription of an address; only the address is needed."""

    project = serializers.CharField(required=False)
    address = serializers.EmailField(max_length=254)


class WebhookRequest(Body):
    """``payload`` is JSON as documented here, or a message for Slack, Mattermost, or Matrix by Hookshot."""

    project = serializers.CharField(required=False)
    url = serializers.CharField(max_length=MAX_URL)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=Incident.Kind.choices),
        default=[Incident.Kind.REGRESSION],
        allow_empty=False,
        max_length=len(Incident.Kind),
    )
    payload = serializers.ChoiceField(choices=Subscription.Payload.choices, default=Subscription.Payload.JSON)
    secret = serializers.CharField(max_length=200, default="", allow_blank=True)
    product = serializers.CharField(max_length=100, required=False, allow_null=True, allow_blank=True)
    branch = serializers.CharField(max_length=200, default="", allow_blank=True)
    hardware = serializers.CharField(max_length=100, required=False, allow_null=True, allow_blank=True)


class MetricChange(Body):
    """``smallest_change`` is a share. The smallest changes and ``watched`` may be null: as by default."""

    more_schema = one_of(*WISHES)

    project = serializers.CharField(required=False)
    unit = serializers.CharField(max_length=50, required=False, allow_blank=True)
    direction = serializers.ChoiceField(choices=Series.Direction.choices, required=False)
    watched = serializers.BooleanField(required=False, allow_null=True)
    smallest_change = serializers.FloatField(required=False, allow_null=True)
    smallest_change_absolute = serializers.FloatField(required=False, allow_null=True)
    aggregation = serializers.ChoiceField(choices=ProjectMetric.Aggregation.choices, required=False)
    kind = serializers.ChoiceField(choices=ProjectMetric.Kind.choices, required=False)
    reason = serializers.CharField(max_length=1000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.keys().isdisjoint(WISHES):
            raise serializers.ValidationError({"direction": [f"give one of {', '.join(WISHES)}"]})
        return attrs


class MetricRequest(MetricChange):
    name = serializers.CharField(max_length=100)


class AnnotationRequest(Body):
    """An event at a moment, or in a span up to ``until``."""

    project = serializers.CharField(required=False)
    at = serializers.DateTimeField()
    until = serializers.DateTimeField(required=False, allow_null=True)
    text = serializers.CharField(max_length=500)
    hardware = serializers.CharField(max_length=200, required=False, allow_null=True, allow_blank=True)
    product = serializers.CharField(max_length=200, required=False, allow_null=True, allow_blank=True)


class BaselineChange(Body):
    """The baseline of a branch: a ``commit`` of its own, or its beginning, or a released ``version``."""

    commit = serializers.CharField(max_length=40, required=False)
    version = serializers.CharField(max_length=100, required=False)
    reason = serializers.CharField(max_length=MAX_REASON_LENGTH)


class BaselineRequest(BaselineChange):
    """The other parts of the place may be left out if the branch was measured in one only."""

    project = serializers.CharField(required=False)
    branch = serializers.CharField(max_length=200)
    product = serializers.CharField(max_length=100, required=False)
    build = serializers.CharField(max_length=100, required=False)
    hardware = serializers.CharField(max_length=100, required=False)
    configuration = serializers.CharField(max_length=200, required=False)
    counterpart = serializers.CharField(max_length=200, required=False)


class ExclusionsRequest(CorrectionRequest):
    """Ids of ``runs`` of one project. An exclusion needs a ``reason``, except in a preview."""

    more_schema = _REASON_OF_EXCLUSION

    project = serializers.CharField(required=False)
    runs = serializers.ListField(child=IdField(), allow_empty=False, max_length=MAX_RUNS_AT_ONCE)
    excluded = serializers.BooleanField()
