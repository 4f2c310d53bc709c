"""Time as it passes in the scenario: nights of uploads, the jobs of beat, and somebody who looks at nine."""

from contextlib import contextmanager
from dataclasses import dataclass, field

from benchdash.alerts.models import Subscription
from benchdash.alerts.tasks import send_alerts
from benchdash.regressions.analysis.null_runs import null_run
from benchdash.regressions.analysis.silences import update_silences
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_token
from tests.clock import clock_at
from tests.scenario.nightly import Nightly
from tests.scenario.world import COMMITS_A_DAY, night_at

READER = "lead@example.org"
# Beat looks for changes every few seconds and for silences every hour; so often is enough to know the day.
_ANALYSES_AT = (7, 13)
_SILENCES_AT = (4, 8, 14, 20)


@dataclass
class Year:
    """A project that lives through a world; ``mornings`` keeps what ``look`` returned at nine o'clock."""

    world: object
    smtp: object
    look: object = None
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
        events += [(hour, self._look_for_changes, None) for hour in _ANALYSES_AT]
        events += [(hour, self._look_for_silences, None) for hour in _SILENCES_AT]
        events += [(12, self._bisect, one) for one in self.world.bisects if one.night == night]
        events += [(9, self._look, None), (22, self._look_for_false_alarms, None)]
        for hour, happens, what in sorted(events, key=lambda event: event[0]):
            with clock_at(night_at(night, hour)):
                happens(night, what)

    def _upload(self, night, job):
        outages = [one for one in self.world.outages if one.holds(job, night)]
        if outages and not outages[0].late:
            return
        self.nightly.measure(job, night, hold_back=bool(outages))
        if not outages:
            self.nightly.send_held_back()

    def _bisect(self, night, bisect):
        for of_day in range(COMMITS_A_DAY - 1):
            commit = bisect.of_night * COMMITS_A_DAY + of_day
            self.nightly.measure(bisect.job, night, commit=commit, hour=10 + of_day / 4)

    def _look_for_silences(self, night, _what):
        update_silences(self.project)
        self._tell(night)

    def _look_for_changes(self, night, _what):
        analyse_touched()
        self._tell(night)

    def _look_for_false_alarms(self, night, _what):
        if night % 28 == 27:
            null_run(self.project)

    def _look(self, night, _what):
        if self.look:
            self.mornings[night] = self.look(self.project)

    def _tell(self, night):
        send_alerts()
        for mail in self.smtp.mails:
            self.first_told.setdefault(incident_of(mail), night)


def incident_of(mail):
    return int(mail.message["X-Benchdash-Incident"])


@contextmanager
def lived(world, smtp, look=None):
    year = Year(world, smtp, look)
    year.live()
    with clock_at(night_at(world.nights, 9)):
        yield year
