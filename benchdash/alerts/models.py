"""Subscriptions, and the mails owed to them."""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from benchdash.accounts.models import Project, User
from benchdash.accounts.time_zones import zone_of
from benchdash.alerts.channels.errors import UnreadableSecretError
from benchdash.encryption import NoKeyError, decrypted, encrypted
from benchdash.regressions.models import Incident, IncidentEvent
from benchdash.results.models import Hardware, Product
from benchdash.results.wording import metric_name

_MIN_WAIT: Final = timedelta(minutes=1)
_MAX_ERROR: Final = 500
RETRY_FIELDS: Final = ("attempts", "retry_at", "error")
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOLD_OF: Final[Mapping[str, str]] = {
    Incident.Kind.REGRESSION: "confirmed regressions",
    Incident.Kind.IMPROVEMENT: "confirmed improvements",
    Incident.Kind.ENVIRONMENT: "changes of machines",
    Incident.Kind.SILENCE: "silences",
    Incident.Kind.DRIFT: "confirmed drifts",
}


def _unsubscribe_key() -> str:
    return secrets.token_urlsafe(24)


def _default_kinds() -> list[str]:
    return [Incident.Kind.REGRESSION, Incident.Kind.DRIFT]


class WithSecret(models.Model):
    """Something with a secret, which is stored encrypted and never shown."""

    encrypted_secret = models.TextField(blank=True, editable=False)

    class Meta:
        abstract = True

    @property
    def secret(self) -> str:
        """The secret. Raises UnreadableSecretError."""
        try:
            return decrypted(self.encrypted_secret.encode()).decode() if self.encrypted_secret else ""
        except NoKeyError:
            raise UnreadableSecretError from None

    @secret.setter
    def secret(self, secret: str) -> None:
        self.encrypted_secret = encrypted(secret.encode()).decode() if secret else ""

    @property
    def secret_trouble(self) -> str:
        """Why the secret cannot be read, in words; empty where it can."""
        try:
            _ = self.secret
        except UnreadableSecretError as error:
            return str(error)
        return ""


class Subscription(WithSecret):
    """An address that is told of the incidents of a project: an e-mail address, or the URL of a webhook.

    Empty filters mean all. ``smallest_change`` is a change of speed, 0.05 is 5 %. A daily or weekly digest is
    sent at ``hour`` in ``time_zone`` (empty: that of the account, else UTC), a weekly one on ``weekday``
    (Monday is 0); it is sent without news where ``all_quiet`` is wished. ``refused_at`` is when the receiving
    side last refused the address, with its words: for the ``refusals``th time in a row, the first of them at
    ``refused_since``. ``secret`` signs what goes to a webhook, in ``payload``.

    It is told nothing until it is confirmed: at once where the operator or the owner of the address
    subscribes it, else by a link in a mail.
    """

    class Rhythm(models.TextChoices):
        IMMEDIATELY = "immediately", "immediately"
        DAILY = "daily", "once a day"
        WEEKLY = "weekly", "once a week"

    class Payload(models.TextChoices):
        JSON = "json", "JSON"
        SLACK = "slack", "Slack"
        MATTERMOST = "mattermost", "Mattermost"
        MATRIX = "matrix", "Matrix"

    CONFIRM_WITHIN: ClassVar[timedelta] = timedelta(days=7)  # an unconfirmed one is then deleted

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="subscriptions")
    address = models.CharField(max_length=2000)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="subscriptions"
    )
    product = models.ForeignKey(Product, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    branch = models.CharField(max_length=200, blank=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    workload_group = models.CharField(max_length=100, blank=True)
    metric = models.CharField(max_length=100, blank=True)
    smallest_change = models.FloatField(null=True, blank=True)
    kinds = ArrayField(models.CharField(max_length=12, choices=Incident.Kind), default=_default_kinds)
    rhythm = models.CharField(max_length=12, choices=Rhythm, default=Rhythm.IMMEDIATELY)
    hour = models.PositiveSmallIntegerField(default=8)
    weekday = models.PositiveSmallIntegerField(default=0)
    time_zone = models.CharField(max_length=64, blank=True)
    all_quiet = models.BooleanField(default=False)
    payload = models.CharField(max_length=12, choices=Payload, default=Payload.JSON)
    refused_at = models.DateTimeField(null=True, blank=True)
    refusal = models.CharField(max_length=500, blank=True)
    refused_since = models.DateTimeField(null=True, blank=True, editable=False)
    refusals = models.PositiveIntegerField(default=0, editable=False)
    key = models.CharField(max_length=40, unique=True, default=_unsubscribe_key, editable=False)
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("project", "address", "product", "branch", "hardware"),
                    *("workload_group", "metric", "smallest_change", "kinds", "rhythm"),
                ],
                name="subscription_is_unique",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return self.address

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of its mails."""
        return zone_of(self.time_zone, self.user.time_zone if self.user else "")

    @property
    def told_of(self) -> str:
        """``confirmed regressions and silences``."""
        *others, last = [_TOLD_OF[kind] for kind in self.kinds]
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def filters_in_words(self) -> str:
        """``every product, main, all hardware``, and what else is asked for."""
        words = [
            str(self.product or "every product"),
            self.branch or "every branch and release",
            str(self.hardware or "all hardware"),
        ]
        if self.workload_group:
            words.append(f"workloads of {self.workload_group}")
        if self.metric:
            words.append(metric_name(self.metric))
        if self.smallest_change is not None:
            words.append(f"changes from {100 * self.smallest_change:.3g} % on")
        return ", ".join(words)

    @property
    def rhythm_in_words(self) -> str:
        """``at once``, ``once a day at 08:00 (Europe/Berlin)``, ``on Mondays at 08:00 (UTC)``."""
        if self.rhythm == self.Rhythm.IMMEDIATELY:
            return "at once"
        day = f"on {WEEKDAYS[self.weekday]}s" if self.rhythm == self.Rhythm.WEEKLY else "once a day"
        quiet = ", also when all is quiet" if self.all_quiet else ""
        return f"{day} at {self.hour:02d}:00 ({self.zone.key}){quiet}"


class Retried(models.Model):
    """Something that is tried again after a growing wait. ``error`` says why the last try did not succeed."""

    attempts = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        abstract = True

    def postpone(self, error: Exception, *, max_wait: timedelta) -> timedelta:
        """Note why a try did not succeed, without saving it, and return how long the next one waits."""
        wait: timedelta = min(_MIN_WAIT * 2 ** min(self.attempts, 10), max_wait)
        self.attempts += 1
        self.retry_at = timezone.now() + wait
        self.error = (str(error) or type(error).__name__)[:_MAX_ERROR]
        return wait


def is_due() -> models.Q:
    """Select what need not wait any more."""
    return models.Q(retry_at=None) | models.Q(retry_at__lte=timezone.now())


class OwedMail(Retried):
    """A mail that is owed to an address until it is sent. A crash may repeat it, never lose it."""

    address = models.CharField(max_length=2000)
    subscription = models.ForeignKey(Subscription, on_delete=models.SET_NULL, null=True, related_name="+")
    owed_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class Confirmation(OwedMail):
    """The question to an address whether it wants a subscription. Asking again adds a row."""

    class Meta:
        indexes = [models.Index(fields=["address", "owed_at"], name="confirmation_by_address")]

    def __str__(self) -> str:
        return f"confirmation of {self.address}"


class MailTest(OwedMail):
    """The mail that a member asked for, to see whether mails arrive: the last one to each address."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "address"], name="one_test_per_address")]

    def __str__(self) -> str:
        return f"test to {self.address}"


class Digest(OwedMail):
    """The morning page as a mail, of the time from ``since`` to ``until``, owed to one address.

    One that ``is_quiet`` has nothing to tell to somebody who does not want to hear that: it is not sent.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()
    is_quiet = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["subscription", "until"], name="one_digest_at_a_time")]

    def __str__(self) -> str:
        return f"digest of {self.project} to {self.address}"


class Alert(OwedMail):
    """One incident owed to one address, or news of one that it was told of: then ``event`` says which.

    ``subject`` is that of the mail which told of the incident; the mails that follow repeat it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alerts")
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="alerts")
    event = models.ForeignKey(IncidentEvent, on_delete=models.CASCADE, null=True, related_name="+")
    subject = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["incident", "address", "event"], name="one_alert_per_address", nulls_distinct=False
            )
        ]
        indexes = [models.Index(fields=["owed_at"], condition=models.Q(sent_at=None), name="alert_unsent")]

    def __str__(self) -> str:
        return f"{self.incident} to {self.address}"


class CodeHost(WithSecret, Retried):
    """A repository at GitHub or GitLab whose pull requests are answered, and a token that may write there.

    While it does not answer as it should, all of its pull requests wait.
    """

    class Kind(models.TextChoices):
        GITHUB = "github", "GitHub"
        GITLAB = "gitlab", "GitLab"

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="code_host")
    kind = models.CharField(max_length=10, choices=Kind)
    api_url = models.CharField(max_length=500)
    repository = models.CharField(max_length=300)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.repository}"

    @property
    def status_name(self) -> str:
        """The name of its statuses, which differs between projects that measure one repository."""
        return f"benchdash/{self.project.slug}"


class PullRequestAnswer(Retried):
    """The last message to a pull request: the commit, a digest of the words, and the id of the comment.

    ``seen_run`` is the id of its newest run when it was looked at: another one means news.
    """

    host = models.ForeignKey(CodeHost, on_delete=models.CASCADE, related_name="answers")
    number = models.BigIntegerField()
    commit = models.CharField(max_length=40, blank=True)
    told = models.CharField(max_length=64, blank=True)
    told_at = models.DateTimeField(null=True, blank=True)
    comment = models.BigIntegerField(null=True, blank=True)
    seen_run = models.BigIntegerField(null=True, blank=True)
    is_pending = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "number"], name="one_answer_per_pull_request")]

    def __str__(self) -> str:
        return f"answer to pull request {self.number}"
