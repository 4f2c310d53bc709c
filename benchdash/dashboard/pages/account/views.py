"""The words of a signed-in person about themselves: their name and time zone."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from benchdash.accounts.access import viewer_of
from benchdash.accounts.services import change_account
from benchdash.accounts.time_zones import time_zones


class AccountForm(forms.Form):
    name = forms.CharField(max_length=150, required=False, help_text="Shown beside what you do.")
    time_zone = forms.ChoiceField(
        required=False,
        label="Time zone",
        help_text="Of the times on pages, and of digests whose subscription says no other.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        names = [(name, name.replace("_", " ")) for name in time_zones()]
        self.fields["time_zone"].choices = [("", "UTC, until you choose"), *names]  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    viewer = viewer_of(request)
    user = viewer.user
    if user is None:  # one who was made inactive meanwhile
        return redirect("dashboard:home")
    form = AccountForm(request.POST or None, initial={"name": user.name, "time_zone": user.time_zone})
    if request.method == "POST" and form.is_valid():
        change_account(user, **form.cleaned_data)
        messages.success(request, "Your account is saved.")
        return redirect("dashboard:account")
    context = {"form": form, "viewer": viewer, "now": timezone.now()}
    return render(request, "dashboard/account.html", context, status=422 if form.is_bound else 200)


urlpatterns = [path("account/", account, name="account")]
