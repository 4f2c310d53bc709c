"""Pages to which the links of mails lead: who follows them need not be anybody, and GET changes nothing."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from benchdash.accounts.access import viewer_of
from benchdash.alerts import one_click as clicks
from benchdash.alerts import subscriptions
from benchdash.alerts.models import Subscription


def _subscription(key: str) -> Subscription:
    known = Subscription.objects.select_related("project", "product", "hardware")
    return get_object_or_404(known, key=key)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe_by_mail(request: HttpRequest, key: str) -> HttpResponse:
    """Answer the link of a mail; a mail program may end the subscription by itself (RFC 8058)."""
    if request.method == "POST" and request.POST.get("List-Unsubscribe") == "One-Click":
        if found := Subscription.objects.filter(key=key).first():
            subscriptions.unsubscribe(found, by=viewer_of(request))
        return HttpResponse("unsubscribed\n", content_type="text/plain")
    return _unsubscribe_page(request, key)


@csrf_protect
def _unsubscribe_page(request: HttpRequest, key: str) -> HttpResponse:
    found = _subscription(key)
    is_ended = request.method == "POST"
    if is_ended:
        subscriptions.unsubscribe(found, by=viewer_of(request))
    return render(request, "dashboard/unsubscribe.html", {"subscription": found, "is_ended": is_ended})


@require_http_methods(["GET", "HEAD", "POST"])
def confirm_subscription(request: HttpRequest, key: str) -> HttpResponse:
    """Answer the link of a mail to an address that somebody else subscribed; GET changes nothing."""
    found = _subscription(key)
    if request.method == "POST":
        subscriptions.confirm(found, by=viewer_of(request))
    return render(request, "dashboard/confirm_subscription.html", {"subscription": found})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def one_click(request: HttpRequest, signed: str) -> HttpResponse:
    """Ask whether to do what the link of a mail says, and do it; then say how things stand."""
    try:
        click = clicks.read_link(signed)
    except clicks.LinkError as error:
        return render(request, "dashboard/one_click.html", {"error": error}, status=404)
    if request.method == "POST":
        clicks.carry_out(click)
        return redirect("dashboard:one_click", signed)
    context = {"click": click, "incident": click.incident, "snoozed_for_days": clicks.SNOOZED_FOR.days}
    return render(request, "dashboard/one_click.html", context)


urlpatterns = [
    path("confirm/<slug:key>/", confirm_subscription, name="confirm_subscription"),
    path("unsubscribe/<slug:key>/", unsubscribe_by_mail, name="unsubscribe"),
    path("one-click/<str:signed>/", one_click, name="one_click"),
]
