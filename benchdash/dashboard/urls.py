"""The pages. Each module of views lists its own; those of a project live under its slug."""

from django.urls import include, path

from benchdash.dashboard.pages.account import views as account
from benchdash.dashboard.pages.articles import views as articles
from benchdash.dashboard.pages.catalogue import views as catalogue
from benchdash.dashboard.pages.embeds import share_views as sharing
from benchdash.dashboard.pages.embeds import views as embeds
from benchdash.dashboard.pages.gate import views as gate
from benchdash.dashboard.pages.history import views as history
from benchdash.dashboard.pages.home import views as home
from benchdash.dashboard.pages.incidents import views as incidents
from benchdash.dashboard.pages.matrix import views as matrix
from benchdash.dashboard.pages.metrics import views as metrics
from benchdash.dashboard.pages.notifications import feed, mail_links
from benchdash.dashboard.pages.notifications import views as notifications
from benchdash.dashboard.pages.operations import views as operations
from benchdash.dashboard.pages.overview import views as overview
from benchdash.dashboard.pages.pair import views as pair
from benchdash.dashboard.pages.people import views as people
from benchdash.dashboard.pages.removals import views as removals
from benchdash.dashboard.pages.rule import views as rule
from benchdash.dashboard.pages.runs import views as runs
from benchdash.dashboard.pages.search import views as search
from benchdash.dashboard.pages.sweep import views as sweep
from benchdash.dashboard.pages.uploads import change_views as upload_changes
from benchdash.dashboard.pages.uploads import views as uploads
from benchdash.dashboard.pages.workload_groups import views as workload_groups

app_name = "dashboard"

_PAGES = (
    *(overview, matrix, sweep, pair, gate, articles, history, runs, incidents, rule),
    *(uploads, upload_changes, catalogue, workload_groups, metrics, notifications),
    *(people, feed, embeds, sharing, search),
)
_project_pages = [address for views in _PAGES for address in views.urlpatterns]

urlpatterns = [
    *home.urlpatterns,
    *account.urlpatterns,
    *operations.urlpatterns,
    *mail_links.urlpatterns,
    *removals.urlpatterns,
    path("p/<slug:slug>/", include(_project_pages)),
]
