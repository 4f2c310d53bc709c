"""Webhooks: a POST to an http or https address, signed with the secret of its subscription."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Final

from django.core.exceptions import ValidationError

from benchdash.alerts import outgoing
from benchdash.alerts.channels.errors import RefusedError, UnavailableError
from benchdash.alerts.models import Alert, Confirmation, Subscription
from benchdash.alerts.payloads import TEST, event_of, payload_of, test_payload

SIGNATURE_HEADER: Final = "X-Benchdash-Signature"
DELIVERY_HEADER: Final = "X-Benchdash-Delivery"
EVENT_HEADER: Final = "X-Benchdash-Event"

_LATER: Final = frozenset({408, 425, 429})


def handles(address: str) -> bool:
    """Tell whether the address looks like one of the web."""
    return "://" in address


def check(address: str) -> str:
    """Return the address as it is stored. Raises Django's ValidationError for one that may not be called."""
    address = address.strip().partition("#")[0]
    try:
        outgoing.check(address)
    except outgoing.ForbiddenError as error:
        raise ValidationError({"address": str(error)}) from None
    return address


def server_of(address: str) -> str:
    """Name the server that delivers: where it is down, it is so for all addresses at it."""
    return outgoing.server_of(address)


def send(alert: Alert) -> None:
    """Tell one address about an incident. Raises RefusedError or UnavailableError."""
    subscription = alert.subscription
    if subscription is None:
        raise RefusedError("its webhook is gone")
    # The same one at every try, so that a receiver can tell a repetition.
    delivery = f"alert-{alert.pk}"
    payload = payload_of(alert, subscription.payload, delivery=delivery)
    _post(subscription, payload, event=event_of(alert), delivery=delivery)


def ask(confirmation: Confirmation) -> None:
    """Refuse to ask: a webhook is confirmed by who adds it. Raises RefusedError."""
    raise RefusedError(f"nobody can be asked at {server_of(confirmation.address)}")


def send_test(subscription: Subscription) -> outgoing.Reply:
    """Send a test to a webhook, and return what came back. Raises RefusedError or UnavailableError."""
    delivery = f"test-{secrets.token_hex(8)}"
    payload = test_payload(subscription.project, subscription.payload, delivery=delivery)
    return _post(subscription, payload, event=TEST, delivery=delivery)


def signature(secret: str, body: bytes) -> str:
    """Return the value of the header that signs a body."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def _post(
    subscription: Subscription, payload: Mapping[str, Any], *, event: str, delivery: str
) -> outgoing.Reply:
    body = json.dumps(payload, ensure_ascii=False, allow_nan=False).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "benchdash",
        EVENT_HEADER: event,
        DELIVERY_HEADER: delivery,
        SIGNATURE_HEADER: signature(subscription.secret, body),
    }
    try:
        answer = outgoing.request("POST", subscription.address, body, headers)
    except outgoing.ForbiddenError as error:
        raise RefusedError(str(error)) from error
    except (OSError, HTTPException) as error:
        raise UnavailableError(outgoing.reason_of(error)) from error
    if answer.is_success:
        return answer
    if answer.status >= 500 or answer.status in _LATER:
        raise UnavailableError(f"it answered {answer}")
    is_redirect = 300 <= answer.status < 400
    raise RefusedError(f"it answered {answer}{'; redirects are not followed' if is_redirect else ''}")
