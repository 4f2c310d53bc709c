"""The pages that belong to no project: the list of projects, signing in and out."""

import hashlib
import logging
import shlex
import sys
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from benchdash.accounts.access import viewer_of
from benchdash.dashboard.queries import project_cards

logger = logging.getLogger(__name__)

_TRIES = 10
_TRIES_WITHIN_S = 60


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    # Exact where it is run by hand, and shown to superusers only.
    command = (
        f"cd {shlex.quote(str(settings.BASE_DIR))} && {shlex.quote(sys.executable)} manage.py create_project"
    )
    cards = project_cards(viewer_of(request))
    return render(request, "dashboard/home.html", {"cards": cards, "create_project": command})


class SignInForm(AuthenticationForm):
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "No account has this e-mail address and password.",
    }

    def clean_username(self) -> str:
        return str(self.cleaned_data["username"]).lower()


class SignIn(LoginView):
    """Ten tries a minute for one e-mail address from one place."""

    authentication_form = SignInForm

    template_name = "dashboard/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if _tries(request) > _TRIES:
            # A bound form would try the password while it is drawn.
            context = self.get_context_data(form=SignInForm(request), too_many=True)
            answer = self.render_to_response(context, status=429)
            answer["Retry-After"] = str(_TRIES_WITHIN_S)
            return answer
        return super().post(request, *args, **kwargs)


def _tries(request: HttpRequest) -> int:
    """How often this address was tried from this place in the last minute, this time included."""
    # As the API tells them apart: behind a proxy by what it says, else by the address alone.
    place = BaseThrottle().get_ident(Request(request))
    who = f"{request.POST.get('username', '').strip().lower()} {place}"
    key = f"sign-in:{hashlib.sha256(who.encode()).hexdigest()}"
    try:
        cache.add(key, 0, timeout=_TRIES_WITHIN_S)
        return cache.incr(key)
    except (RedisError, ValueError) as error:
        # Without its counter, or when the minute ended just now, people must still be able to sign in.
        logger.warning("sign-in tries are not counted: %s", error)
        return 1


urlpatterns = [
    path("", home, name="home"),
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
]
