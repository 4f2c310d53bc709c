"""Time as it passes in the scenario: nights of uploads, the jobs of beat, and somebody who looks at nine."""

import re
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchdash.alerts.models import Subscription
from benchdash.alerts.tasks import send_alerts
from benchdash.regressions.analysis.silences import update_silences
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.mornings import morning_of
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_token
from tests.clock import clock_at
from tests.scenario.nightly import Nightly
from tests.scenario.world import COMMITS_A_DAY, night_at

READER = "lead@example.org"
# Beat looks for changes every few seconds and for silences every hour; so often is enough to know the day.
_LOOKS_AT = (7, 20)
_INCIDENT = re.compile(r"/incidents/(\d+)/")


@dataclass
class Year:
    """A project that lives through a world, and what it said on its mornings, at nine o'clock."""

    world: object
    smtp: object
    mornings: dict = field(default_factory=dict)
    first_told: dict = field(default_factory=dict)  # the night of the first mail of each incident

    def __post_init__(self):
        with clock_at(night_at(0)):
            self.project = make_project("nightly", public=True)
            self.nightly = Nightly(self.world, make_token(self.project))
            Subscription.objects.create(
                project=self.project,
                address=READER,
                kinds=[kind for kind in Incident.Kind.values if kind != Incident.Kind.IMPROVEMENT],
                confirmed_at=night_at(0),
            )

    def live(self):
        for night in range(self.world.nights):
            self._pass(night)

    def _pass(self, night):
        events = [(job.hour + 1, self._upload, job) for job in self.world.jobs]
        events += [(hour, self._work, None) for hour in _LOOKS_AT]
        events += [(12, self._bisect, one) for one in self.world.bisects if one.night == night]
        events += [(9, self._look, None)]
        for hour, happens, what in sorted(events, key=lambda event: event[0]):
            with clock_at(night_at(night, hour)):
                happens(night, what)

    def _upload(self, night, job):
        outages = [one for one in self.world.outages if one.holds(job, night)]
        if outages and not outages[0].late:
            return
        self.nightly.measure(job, night, hold_back=bool(outages))
        if not outages:
            self.nightly.send_held_back(job.machine)

    def _bisect(self, night, bisect):
        for of_day in range(COMMITS_A_DAY - 1):
            commit = bisect.of_night * COMMITS_A_DAY + of_day
            self.nightly.measure(bisect.job, night, commit=commit, hour=10 + of_day / 4)

    def _work(self, night, _what):
        """Do what beat does, and note what is told."""
        analyse_touched()
        update_silences(self.project)
        send_alerts()
        for mail in self.smtp.mails:
            self.first_told.setdefault(incident_of(mail), night)

    def _look(self, night, _what):
        if night in self.world.mornings:
            self.mornings[night] = morning_of(self.project)


def incident_of(mail):
    """The incident that a mail links to."""
    return int(_INCIDENT.search(mail.text)[1])


@contextmanager
def lived(world, smtp):
    year = Year(world, smtp)
    year.live()
    with clock_at(night_at(world.nights, 9)):
        yield year
