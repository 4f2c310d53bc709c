"""Incidents that were put off until a time or a version come back."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from benchdash.regressions.events import event
from benchdash.regressions.models import Incident, IncidentEvent
from benchdash.results.models import VersionPlace
from benchdash.results.versions import parse_version, release_line


@transaction.atomic
def wake_snoozed() -> int:
    """Wake the incidents whose time or version has come, and return how many those were."""
    now = timezone.now()
    due = (
        Incident.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
        .filter(Q(snoozed_until__lte=now) | ~Q(snoozed_until_version=""))
        .select_related("product")
        .order_by("pk")
    )
    woken = [one for one in due if _is_over(one)]
    for one in woken:
        one.snoozed_until, one.snoozed_until_version = None, ""
    Incident.objects.bulk_update(woken, ["snoozed_until", "snoozed_until_version"], batch_size=100)
    IncidentEvent.objects.bulk_create(event(one, IncidentEvent.What.WOKEN) for one in woken)
    return len(woken)


def _is_over(incident: Incident) -> bool:
    if incident.snoozed_until and incident.snoozed_until <= timezone.now():
        return True
    return bool(incident.snoozed_until_version) and _is_measured(incident)


def _is_measured(incident: Incident) -> bool:
    """Tell whether the version that an incident waits for, or a later one, was measured where it belongs.

    Of a version without a number nobody knows what is later.
    """
    least = parse_version(incident.snoozed_until_version)
    it_or_later = Q(sort_key__gte=least.sort_key) if least.sort_key else Q(version__version=least.version)
    measured = VersionPlace.objects.filter(it_or_later, project=incident.project_id)
    if incident.product is None:
        return measured.filter(hardware=incident.hardware_id).exists()
    measured = measured.filter(product=incident.product, branch=incident.branch)
    if not incident.line:
        return measured.exists()
    versions = measured.order_by().values_list("version__version", flat=True).distinct()
    return any(release_line(incident.product.name, one) == incident.line for one in versions)
