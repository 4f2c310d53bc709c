"""Subscriptions, and the mails owed to them."""

import secrets
from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.utils import timezone

from benchdash.accounts.models import Project, User
from benchdash.regressions.models import Incident
from benchdash.results.models import Hardware, Product


def _unsubscribe_key() -> str:
    return secrets.token_urlsafe(24)


class Subscription(models.Model):
    """An address that is told of the confirmed regressions of a project. Empty filters mean all.

    It is told nothing until it is confirmed: at once where the operator or the owner of the address
    subscribes it, else by a link in a mail.
    """

    CONFIRM_WITHIN: ClassVar[timedelta] = timedelta(days=7)  # an unconfirmed one is then deleted

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="subscriptions")
    address = models.EmailField(max_length=254)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="subscriptions"
    )
    product = models.ForeignKey(Product, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    branch = models.CharField(max_length=200, blank=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    key = models.CharField(max_length=40, unique=True, default=_unsubscribe_key, editable=False)
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "address", "product", "branch", "hardware"],
                name="subscription_is_unique",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return self.address


class OwedMail(models.Model):
    """A mail that is owed to an address until it is sent. A crash may repeat it, never lose it."""

    address = models.EmailField(max_length=254)
    subscription = models.ForeignKey(Subscription, on_delete=models.SET_NULL, null=True, related_name="+")
    owed_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        abstract = True


class Confirmation(OwedMail):
    """The question to an address whether it wants a subscription. Asking again adds a row."""

    class Meta:
        indexes = [models.Index(fields=["address", "owed_at"], name="confirmation_by_address")]

    def __str__(self) -> str:
        return f"confirmation of {self.address}"


class Alert(OwedMail):
    """One incident owed to one address."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alerts")
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="alerts")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "address"], name="one_alert_per_address")]
        indexes = [models.Index(fields=["owed_at"], condition=models.Q(sent_at=None), name="alert_unsent")]

    def __str__(self) -> str:
        return f"{self.incident} to {self.address}"
