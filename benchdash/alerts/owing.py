"""Who is owed which incident, and which news of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.contrib.postgres.aggregates import ArrayAgg
from django.contrib.postgres.fields import ArrayField
from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.utils import timezone

from benchdash.accounts.models import Membership, Project
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.refusals import IS_STOPPED
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent, Silence
from benchdash.results.models import Series
from benchdash.results.workload_groups import groupings_of

_What = IncidentEvent.What

# An incident that its machine explains needs nobody's care as long as it does.
_ENDED: Final = (_What.WITHDRAWN, _What.RECOVERED, _What.FOLDED)
# Confirmed for the second time, after it was withdrawn.
_BACK: Final = (_What.CONFIRMED, _What.RETURNED, _What.UNFOLDED)
NEWS: Final = (_What.SPREAD, *_ENDED, *_BACK)
"""Events that are told later to those who know of an incident; its return only if they know that it ended."""

MAY_READ_THE_PROJECT: Final = Q(user=None) | Q(user__is_active=True) & (
    Q(project__visibility=Project.Visibility.PUBLIC)
    | Q(user__is_superuser=True)
    | Exists(Membership.objects.filter(project=OuterRef("project"), user=OuterRef("user")))
)

# A machine that became slower or fell silent concerns every metric and workload on it.
_OF_MACHINES: Final = (Incident.Kind.ENVIRONMENT, Incident.Kind.SILENCE)


class Owed(NamedTuple):
    """Ids, and the address: of an alert to make."""

    project_id: int
    incident_id: int
    address: str
    subscription_id: int
    event_id: int | None = None


def untold_incidents() -> list[Owed]:
    """Find the confirmed incidents that a subscriber has not been told of.

    One statement, and three more where a subscription asks for a group of workloads.
    """
    columns = ("project", _INCIDENT, "address", "pk", "workload_group")
    found = [(Owed(*row[:4]), row[4]) for row in _untold().values_list(*columns)]
    groups = _workload_groups({owed.incident_id for owed, wanted in found if wanted})
    return [owed for owed, wanted in found if not wanted or wanted in groups.get(owed.incident_id, {wanted})]


def untold_news() -> list[Owed]:
    """Find the news of incidents that those who were told of them have not been told; one statement."""
    told = Alert.objects.filter(address=OuterRef("address"), event=OuterRef("incident__events"))
    rows = Alert.objects.filter(
        _is_news("incident__events"),
        ~Exists(told),
        Exists(_subscriptions().filter(pk=OuterRef("subscription"))),
        event=None,
        sent_at__isnull=False,
        # Analysis may have written what was not yet committed as the mail left.
        incident__events__at__gte=F("owed_at"),
    )
    return [
        Owed(*row)
        for row in rows.values_list("project", "incident", "address", "subscription", "incident__events")
    ]


def fitting(subscription: Subscription, incidents: Iterable[Incident]) -> set[int]:
    """Return the ids of the incidents that a subscription asks for; in four statements at most."""
    ids = [one.pk for one in incidents]
    if not ids:
        return set()
    own = Subscription.objects.filter(_asks_for(), pk=subscription.pk, **{f"{_INCIDENT}__in": ids})
    found = set(own.values_list(_INCIDENT, flat=True))
    if not (wanted := subscription.workload_group):
        return found
    groups = _workload_groups(found)
    return {pk for pk in found if wanted in groups.get(pk, {wanted})}


def still_owed() -> QuerySet[Alert]:
    """Return the alerts that were not sent and still are news.

    What was withdrawn, explained, settled or put off while the mail server was down is not.
    """
    opening = Q(_is_worth_a_mail("incident"), event=None, incident__confirmed_at__gt=oldest_news())
    stopped = Subscription.objects.filter(IS_STOPPED, pk=OuterRef("subscription"))
    return Alert.objects.filter(
        opening | Q(_is_news("event"), event__isnull=False), ~Exists(stopped), sent_at=None
    )


def oldest_news() -> datetime:
    return timezone.now() - settings.HISTORICAL_AFTER


_INCIDENT: Final = "project__incidents"
# Who asks for 20 % is told of 800 after 1,000, which no computer takes to be exactly that.
_ROUNDING: Final = 1e-9


def _subscriptions() -> QuerySet[Subscription]:
    """Return the subscriptions that are told at once."""
    return Subscription.objects.filter(
        MAY_READ_THE_PROJECT,
        ~IS_STOPPED,
        rhythm=Subscription.Rhythm.IMMEDIATELY,
        project__is_sample=False,
    )


def _untold() -> QuerySet[Subscription]:
    """Return each subscription with each incident that is owed to it, but for its group of workloads.

    A subscription tells only of incidents that were confirmed after it was.
    """
    incident = OuterRef(_INCIDENT)
    told = Alert.objects.filter(incident=incident, address=OuterRef("address"))
    # The end of a loss is news of the incident of the loss.
    told_of_loss = Alert.objects.filter(incident__recovered_by=incident, address=OuterRef("address"))
    return _subscriptions().filter(
        _is_worth_a_mail(_INCIDENT),
        _asks_for(),
        ~Exists(told),
        ~Exists(told_of_loss),
        **{
            f"{_INCIDENT}__confirmed_at__gte": F("confirmed_at"),
            f"{_INCIDENT}__confirmed_at__gt": oldest_news(),
        },
    )


def _asks_for() -> Q:
    """Select the subscriptions with those incidents that fit their filters, but for groups of workloads."""
    incident = OuterRef(_INCIDENT)
    confirmed = ChangePoint.objects.filter(incident=incident, state=ChangePoint.State.CONFIRMED)
    on_machine = Series.objects.filter(hardware=OuterRef(f"{_INCIDENT}__hardware"))
    of_machine = Q(**{f"{_INCIDENT}__product": None})
    of_kind = Q()
    for kind in Incident.Kind:
        of_kind |= Q(**{"kinds__contains": [kind], f"{_INCIDENT}__kind": kind})
    concerns_all = Q(**{f"{_INCIDENT}__kind__in": _OF_MACHINES})
    return Q(
        of_kind,
        Q(product=None)
        | Q(product=F(f"{_INCIDENT}__product"))
        | of_machine & Exists(on_machine.filter(product=OuterRef("product"))),
        Q(branch="")
        | Q(branch=F(f"{_INCIDENT}__branch"))
        | of_machine & Exists(on_machine.filter(branch=OuterRef("branch"))),
        Q(hardware=None)
        | Q(hardware=F(f"{_INCIDENT}__hardware"))
        | Exists(confirmed.filter(series__hardware=OuterRef("hardware"))),
        Q(metric="") | concerns_all | Exists(confirmed.filter(series__metric=OuterRef("metric"))),
        Q(smallest_change=None)
        | concerns_all
        # A rise from zero has no per cent, and is not smaller than one.
        | Q(**{f"{_INCIDENT}__median": None})
        | Q(**{f"{_INCIDENT}__median__gte": F("smallest_change") - _ROUNDING})
        | Q(**{f"{_INCIDENT}__median__lte": _ROUNDING - F("smallest_change")}),
    )


def _is_worth_a_mail(incident: str) -> Q:
    """Select incidents that people are told of; ``incident`` leads to them."""
    wanted: dict[str, Any] = {
        "status": Incident.Status.CONFIRMED,
        "state__in": Incident.OPEN,
        "quiet": False,
        "folded_into": None,
        **_NOT_PUT_ASIDE,
    }
    return Q(**{f"{incident}__{name}": value for name, value in wanted.items()})


_NOT_PUT_ASIDE: Final[Mapping[str, Any]] = {
    "historical": False,
    "left_out": False,
    "snoozed_until": None,
    "snoozed_until_version": "",
}


def _is_news(event: str) -> Q:
    """Select the alerts whose event is worth a mail now; ``event`` leads to it.

    It is where it still holds, no later one has overtaken it, and no mail told of it by what it showed.
    """
    later = IncidentEvent.objects.filter(
        incident=OuterRef("incident"), pk__gt=OuterRef(event), what__in=NEWS, quiet=False
    ).exclude(what=_What.SPREAD)
    of_address = Alert.objects.filter(incident=OuterRef("incident"), address=OuterRef("address"))
    shown = of_address.filter(sent_at__gte=OuterRef(f"{event}__at"))
    told_as_back = of_address.filter(
        event__gt=OuterRef("event"), event__what__in=_BACK, sent_at__isnull=False
    )
    told_as_ended = of_address.filter(~Exists(told_as_back), event__what__in=_ENDED, sent_at__isnull=False)

    def happened(*what: str, status: str = Incident.Status.CONFIRMED, also_in: Iterable[str] = ()) -> Q:
        states = [*Incident.OPEN, *also_in]
        return Q(**{f"{event}__what__in": what}, incident__status=status, incident__state__in=states)

    holds = (
        happened(_What.WITHDRAWN, status=Incident.Status.WITHDRAWN)
        | happened(_What.RECOVERED, also_in=[Incident.State.FIXED])
        | happened(*_BACK) & Exists(told_as_ended)
        | happened(_What.SPREAD) & ~Exists(shown)
    )
    is_explained = {"incident__folded_into__isnull": False}
    return Q(
        Q(holds, incident__folded_into=None) | Q(happened(_What.FOLDED), **is_explained),
        ~Exists(later),
        **{f"{event}__quiet": False, f"{event}__at__gt": oldest_news()},
        **{f"incident__{name}": value for name, value in _NOT_PUT_ASIDE.items()},
    )


def _workload_groups(incident_ids: set[int]) -> dict[int, set[str | None]]:
    """Return the groups of the workloads that changed or fell silent, by incident.

    Incidents of whole machines and jobs are left out: they concern every group.
    """
    if not incident_ids:
        return {}
    of_series = (
        Incident.objects.filter(pk__in=incident_ids)
        .exclude(kind__in=_OF_MACHINES)
        .annotate(
            names=ArrayAgg(
                "change_points__series__workload__name",
                filter=Q(change_points__state=ChangePoint.State.CONFIRMED),
                default=Value([], output_field=ArrayField(TextField())),
            )
        )
    )
    silent = Silence.objects.filter(incident__in=incident_ids, workload__isnull=False)
    rows = [
        *of_series.values_list("project", "pk", "names"),
        *(
            (project_id, pk, [name])
            for project_id, pk, name in silent.values_list("incident__project", "incident", "workload__name")
        ),
    ]
    groupings = groupings_of({project_id for project_id, _, _ in rows})
    return {pk: {groupings[project_id].of(name) for name in names} for project_id, pk, names in rows}
