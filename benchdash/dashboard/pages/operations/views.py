"""The page of who runs the installation: what cannot be analysed, and why."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from benchdash.accounts.access import viewer_of
from benchdash.regressions.analysis.failing_places import try_again
from benchdash.regressions.comparison.default_columns import PlaceNames
from benchdash.regressions.models import FailingPlace

P = ParamSpec("P")
_PAGE: Final = 50


def _for_operators(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Make a view for superusers; others get a 404, the anonymous the sign-in page."""

    @wraps(view)
    def answer(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        viewer = viewer_of(request)
        if viewer.is_anonymous:
            return redirect_to_login(reverse("dashboard:operations"))
        if not (viewer.user and viewer.user.is_superuser):
            raise Http404
        return view(request, *args, **kwargs)

    return answer


@never_cache
@require_safe
@_for_operators
def operations(request: HttpRequest) -> HttpResponse:
    failing = FailingPlace.objects.select_related("project", "product", "hardware", "configuration")
    pages = Paginator(failing, _PAGE).get_page(request.GET.get("page"))
    rows = [(one, _in_words(one)) for one in pages]
    return render(request, "dashboard/operations.html", {"pages": pages, "rows": rows})


@require_POST
@_for_operators
def place_try_again(request: HttpRequest, pk: int) -> HttpResponse:
    failing = get_object_or_404(FailingPlace, pk=pk)
    try_again(failing, by=viewer_of(request))
    messages.success(request, f"{_in_words(failing)} will be looked at within seconds.")
    return redirect("dashboard:operations")


def _in_words(failing: FailingPlace) -> str:
    product, hardware, configuration = map(str, (failing.product, failing.hardware, failing.configuration))
    place = PlaceNames(product, failing.build, failing.branch, hardware, configuration, failing.counterpart)
    return f"{place}, releases of {failing.line}" if failing.line else str(place)


urlpatterns = [
    path("operations/", operations, name="operations"),
    path("operations/places/<int:pk>/try-again/", place_try_again, name="place_try_again"),
]
