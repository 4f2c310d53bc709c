"""A page with every part of the shell, for the tests: an URL map of its own."""

from django.http import HttpResponse
from django.template import engines
from django.urls import include, path

from benchdash.charts.colours import ordered_colours
from benchdash.charts.figure import Figure, Line, Plot
from benchdash.charts.parts import metric_axis, threads_axis
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.project_page import project_form

_TEMPLATE = """
{% extends "base.html" %}{% load shell figures %}
{% block title %}Guide{% endblock %}
{% block heading %}Guide{% endblock %}
{% block filters %}{% include "dashboard/_filters.html" %}{% endblock %}
{% block scripts %}{% include "dashboard/_chart_scripts.html" %}{% endblock %}
{% block content %}
  <p id="chosen">{{ request.GET.urlencode }}</p>
  {% chart figure "tps" title="oltp_read_only, tps against threads" table="tps-table" scale="tps_axis" %}
  <div class="table-box">
    <table class="data" id="tps-table">
      <tr><th>Version</th><th>1 thread</th></tr>
      <tr><th>10.6, with a "fix"</th><td data-value="1234.5">1,234</td></tr>
      <tr><th>=HYPERLINK(1)</th><td data-value="-1e-05">−0.00001</td></tr>
    </table>
  </div>
  <form method="post" data-confirm="Delete the upload result.txt?">
    {% csrf_token %}<button type="submit">Delete</button>
  </form>
  <div id="tall"></div>
{% endblock %}
"""
_THREADS = [1, 2, 4, 8]


@project_form
def guide(request, page):
    if request.method == "POST":
        return HttpResponse("deleted")
    chips = [
        filters.some_of(
            "workload",
            "Workload",
            [("ro", "read only"), ("rw", "read write")],
            request.GET.getlist("workload"),
        ),
        filters.one_of(
            "hardware", "Hardware", [("a", "bench-a"), ("b", "bench-b")], request.GET.get("hardware")
        ),
    ]
    lines = [
        Line(version, _THREADS, values, colour, hover=list(map(str, values)))
        for version, values, colour in zip(
            ["10.6", "10.11"], [[10, 20, 40, 70], [11, 22, 41, 71]], ordered_colours(2), strict=True
        )
    ]
    plot = Plot(metric_axis("tps", "1/s", "higher"), lines)
    template = engines["django"].from_string(_TEMPLATE)
    context = {
        "page": page,
        "project": page.project,
        "filters": chips,
        "figure": Figure(threads_axis(_THREADS), [plot], names="ends", says_all=True),
    }
    return HttpResponse(template.render(context, request))


@project_form
def members_only(request, page):
    page.require("upload")
    return HttpResponse("welcome")


def broken(request):
    raise ValueError("a mistake of ours")


urlpatterns = [
    path("p/<slug:slug>/guide/", guide),
    path("p/<slug:slug>/members-only/", members_only),
    path("broken/", broken),
    path("", include("benchdash.urls")),
]
