"""E-mail. A mail is a folder: ``templates/emails/<name>/`` holds subject.txt, body.txt and body.html."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from email.mime.image import MIMEImage
from email.utils import make_msgid
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.crypto import salted_hmac

from benchdash.addresses import absolute, history_of
from benchdash.alerts.channels.errors import RefusedError, UnavailableError
from benchdash.alerts.digest_mails import digest_context
from benchdash.alerts.incident_mails import context_of
from benchdash.alerts.mail_files import PROJECT_HEADER
from benchdash.alerts.models import Alert, Confirmation, Digest, MailTest
from benchdash.results.wording import NO_BREAK

# With more lines the chart of the history page could not be read.
MAX_LINES: Final = 4
_NO_PICTURES: Final[Mapping[str, bytes]] = {}
_REFUSED_FOR_GOOD: Final = range(500, 600)


class _MailWithPictures(EmailMultiAlternatives):
    """A mail whose pictures belong to its text, and are no attachments to be saved."""

    mixed_subtype = "related"


def handles(address: str) -> bool:
    """Tell whether the address looks like one of e-mail."""
    return "@" in address and "://" not in address


def check(address: str) -> str:
    """Return the address as it is stored. Raises Django's ValidationError for what is no e-mail address."""
    address = address.strip().lower()
    validate_email(address)
    return address


def server_of(address: str) -> str:  # noqa: ARG001 - one mail server delivers to all
    """Name the server that delivers to the address."""
    return "mail"


def send(alert: Alert) -> None:
    """Tell one address about an incident, or news of it. Raises RefusedError or UnavailableError.

    The mails about one incident are one thread: those that follow answer the first one, and repeat its
    subject.
    """
    incident = alert.incident
    context, picture = context_of(alert)
    if alert.event_id is None:
        alert.subject = context["subject"]
        alert.save(update_fields=["subject"])
    else:
        context["subject"] = _first_subject(alert) or context["subject"]
    unsubscribe = absolute("dashboard:unsubscribe", alert.subscription.key) if alert.subscription else ""
    cid = f"change.{_thread_id(alert)}"
    context |= {
        "history_url": _history_address(incident.project.slug, context["series_ids"]),
        "unsubscribe_url": unsubscribe,
        "picture_cid": cid,
    }
    headers = {
        PROJECT_HEADER: str(incident.project_id),
        **_thread_headers(alert),
        **_unsubscribe_headers(unsubscribe),
    }
    pictures = {cid: picture.png} if picture else {}
    _send("incident", to=alert.address, context=context, headers=headers, pictures=pictures)


def send_digest(digest: Digest) -> None:
    """Send the morning page as a mail. Raises RefusedError or UnavailableError."""
    subscription = digest.subscription
    unsubscribe = absolute("dashboard:unsubscribe", subscription.key) if subscription else ""
    headers = {PROJECT_HEADER: str(digest.project_id), **_unsubscribe_headers(unsubscribe)}
    with timezone.override(subscription.zone if subscription else UTC):
        context = {**digest_context(digest), "unsubscribe_url": unsubscribe}
        _send("digest", to=digest.address, context=context, headers=headers)


def ask(confirmation: Confirmation) -> None:
    """Ask an address whether it wants its subscription. Raises RefusedError or UnavailableError."""
    subscription = confirmation.subscription
    url = absolute("dashboard:confirm_subscription", subscription.key) if subscription else ""
    context = {"subscription": subscription, "url": url}
    _send("confirmation", to=confirmation.address, context=context, headers={})


def send_test(test: MailTest) -> None:
    """Send a member the mail they asked for. Raises RefusedError or UnavailableError."""
    context = {
        "project": test.project,
        "address": test.address,
        "url": absolute("dashboard:notifications", test.project.slug),
    }
    _send("test", to=test.address, context=context, headers={PROJECT_HEADER: str(test.project_id)})


def _send(
    name: str,
    *,
    to: str,
    context: Mapping[str, Any],
    headers: Mapping[str, str],
    pictures: Mapping[str, bytes] = _NO_PICTURES,
) -> None:
    """Send one mail. ``pictures`` are PNG files that its HTML shows, by their Content-ID."""

    def part(file: str) -> str:
        return render_to_string(f"emails/{name}/{file}", dict(context))

    own = {"Message-ID": make_msgid(domain=_domain()), "Auto-Submitted": "auto-generated"}
    mail = _MailWithPictures(
        subject=" ".join(part("subject.txt").split()),
        body=part("body.txt").replace(NO_BREAK, " "),
        to=[to],
        headers={**own, **headers},
    )
    mail.attach_alternative(part("body.html"), "text/html")
    for cid, png in pictures.items():
        mail.attach(_picture(cid, png))
    try:
        mail.send()
    except SMTPRecipientsRefused as error:
        raise _refused(error, [code for code, _ in error.recipients.values()]) from error
    except SMTPDataError as error:
        raise _refused(error, [error.smtp_code]) from error
    except (OSError, SMTPException) as error:
        raise UnavailableError(str(error) or type(error).__name__) from error


def _refused(error: SMTPException, codes: Sequence[int]) -> RefusedError:
    is_permanent = all(code in _REFUSED_FOR_GOOD for code in codes)
    return RefusedError(str(error) or type(error).__name__, is_permanent=is_permanent)


def _picture(cid: str, png: bytes) -> MIMEImage:
    image = MIMEImage(png, "png")
    image.add_header("Content-ID", f"<{cid}>")
    image.add_header("Content-Disposition", "inline", filename="change.png")
    return image


def _thread_headers(alert: Alert) -> dict[str, str]:
    """Return the headers that make the mails about an incident one thread.

    A mail that is sent again, because nobody knows whether it arrived, has the same Message-ID: then
    programs that know it show it once.
    """
    first = f"<{_thread_id(alert)}>"
    if alert.event_id is None:
        return {"Message-ID": first}
    own = f"<event-{alert.event_id}.{_thread_id(alert)}>"
    return {"Message-ID": own, "In-Reply-To": first, "References": first}


def _thread_id(alert: Alert) -> str:
    """Name the thread of an incident at an address, without telling others the address."""
    of_address = salted_hmac("benchdash.alerts.thread", f"{alert.incident_id} {alert.address}").hexdigest()
    return f"incident-{alert.incident_id}.{of_address[:16]}@{_domain()}"


def _first_subject(alert: Alert) -> str:
    first = Alert.objects.filter(incident=alert.incident_id, address=alert.address, event=None)
    return first.values_list("subject", flat=True).first() or ""


def _unsubscribe_headers(url: str) -> dict[str, str]:
    """Return the headers that make a mail program show a button to unsubscribe."""
    if not url:
        return {}
    return {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def _history_address(slug: str, series_ids: Sequence[int]) -> str:
    if not series_ids:
        return ""
    return history_of(*series_ids[:MAX_LINES]).absolute(slug)


def _domain() -> str:
    return urlsplit(settings.SITE_URL).hostname or "localhost"
