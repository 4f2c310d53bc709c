"""Webhooks of a project: subscriptions whose address is one of the web, added by who triages."""

import secrets
from collections.abc import Sequence
from typing import Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.alerts.channels import webhook
from benchdash.alerts.channels.errors import RefusedError, UnavailableError
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.outgoing import server_of
from benchdash.alerts.subscriptions import OF_MAIL
from benchdash.regressions.models import Incident
from benchdash.results.branches import branch_called
from benchdash.results.models import Hardware, Product

MAX_WEBHOOKS: Final = 20
MIN_SECRET: Final = 16


def webhooks() -> QuerySet[Subscription]:
    """Return the webhooks, each with ``owed`` (alerts), ``last_sent_at``, and the ``last_error`` of these."""
    alerts = Alert.objects.filter(subscription=OuterRef("pk")).order_by()
    unsent = alerts.filter(sent_at=None)
    return Subscription.objects.exclude(OF_MAIL).annotate(
        owed=Subquery(unsent.values("subscription").annotate(count=Count("pk")).values("count")),
        last_sent_at=Subquery(alerts.exclude(sent_at=None).order_by("-sent_at").values("sent_at")[:1]),
        last_error=Subquery(unsent.exclude(error="").order_by("-owed_at").values("error")[:1]),
    )


def add_webhook(
    project: Project,
    url: str,
    *,
    kinds: Sequence[str] = (Incident.Kind.REGRESSION,),
    payload: str = Subscription.Payload.JSON,
    secret: str = "",
    product: Product | None = None,
    branch: str = "",
    hardware: Hardware | None = None,
    by: Viewer,
) -> tuple[Subscription, bool]:
    """Return the webhook and whether its secret is new; the same one again stays one, with its secret.

    Without a secret one is made. One that cannot be read any more is replaced. Raises
    django.core.exceptions.ValidationError for an address that may not be called, for a secret that is too
    short, and where the project has too many.
    """
    try:
        url = webhook.check(url)
    except ValidationError as error:
        raise ValidationError({"url": error.messages}) from None
    if secret and len(secret) < MIN_SECRET:
        raise ValidationError({"secret": f"a secret has at least {MIN_SECRET} characters"})
    with transaction.atomic():
        # Two who add the last one at once: the second waits here.
        Project.objects.select_for_update().get(pk=project.pk)
        found, is_new = Subscription.objects.get_or_create(
            project=project,
            address=url,
            kinds=sorted(set(kinds)),
            product=product,
            branch=branch_called(branch.strip()),
            hardware=hardware,
            defaults={"payload": payload, "confirmed_at": timezone.now()},
        )
        if is_new:
            if Subscription.objects.filter(project=project).exclude(OF_MAIL).count() > MAX_WEBHOOKS:
                raise ValidationError({"url": f"a project has at most {MAX_WEBHOOKS} webhooks"})
            audit(project, by, "webhook added", server_of(url), detail=_detail(found))
        elif found.secret_trouble:
            is_new = True
            Alert.objects.filter(subscription=found, sent_at=None).update(retry_at=None)
            audit(project, by, "secret of webhook added again", server_of(url), detail=_detail(found))
        if is_new:
            found.secret = secret or secrets.token_urlsafe(32)
            found.save(update_fields=["encrypted_secret"])
    return found, is_new


def remove_webhook(found: Subscription, *, by: Viewer) -> None:
    """Remove a webhook, and what it is owed."""
    with transaction.atomic():
        audit(found.project, by, "webhook removed", server_of(found.address), detail=_detail(found))
        Alert.objects.filter(subscription=found, sent_at=None).delete()
        found.delete()


def try_webhook(found: Subscription) -> tuple[bool, str]:
    """Send a test at once, and return whether it was taken, and what came back."""
    if settings.HOLD_MAIL:
        return False, "nothing is sent from this installation (HOLD_MAIL=1)"
    try:
        return True, str(webhook.send_test(found))
    except (RefusedError, UnavailableError) as error:
        return False, str(error)


def _detail(found: Subscription) -> dict[str, object]:
    # The address itself may be a secret, as those of Slack are.
    return {"id": found.pk, "kinds": found.kinds, "payload": found.payload}
