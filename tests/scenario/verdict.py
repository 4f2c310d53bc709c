"""What the product said of a world, held against what truly happened in it."""

import math
from collections import Counter, defaultdict
from datetime import timedelta

from benchdash.regressions.models import Incident
from tests.scenario.simulation import incident_of
from tests.scenario.world import COMMITS_A_DAY, DAY, commit_of, night_at

# An incident begins with the first slow night; noise may move that a little.
MAX_NIGHTS_OFF = 3
MAX_MISSED_NIGHTS = 2
# On machines that scatter by one or two per cent, nobody may miss such a loss.
LARGE_LOSS = 0.12
# Told false incidents of a project of this size were bounded so with 95 %.
MAX_FALSE_A_YEAR = 2.4


class Verdict:
    """Problems are sentences; a world that the product understood has none."""

    def __init__(self, year):
        self.year, self.world = year, year.world
        self.incidents = list(
            Incident.objects.select_related("product", "hardware", "since", "until").order_by("started_at")
        )
        self.mails = defaultdict(list)
        for mail in year.smtp.mails:
            self.mails[incident_of(mail)].append(mail)

    @property
    def told(self):
        """The incidents that somebody was mailed, by kind."""
        found = defaultdict(list)
        for one in self.incidents:
            if one.pk in self.mails:
                found[one.kind].append(one)
        return found

    def regressions(self):
        """Each injected loss that is large enough is one incident and one thread."""
        problems = []
        for change in self.losses:
            found = [one for one in self.told["regression"] if self._is_of(one, change)]
            if is_large(change) and len(found) != 1:
                problems.append(f"{words(change)} is {len(found)} told incidents")
        return problems

    def threads(self):
        """Nobody is told of one thing twice: one mail opens a thread, and all others answer it."""
        problems = []
        for pk, mails in self.mails.items():
            ids = {mail.message["Message-ID"] for mail in mails}
            openings = [mail for mail in mails if mail.message["In-Reply-To"] not in ids]
            subjects = Counter(mail.subject for mail in openings)
            if len(openings) != 1:
                problems.append(f"incident {pk} opened {len(openings)} threads: {dict(subjects)}")
        return problems

    def false_incidents(self):
        """Regressions that were mailed and that nothing in the world made."""
        return [
            one
            for one in self.told["regression"]
            if not any(self._is_of(one, change) for change in self.losses)
        ]

    def budget(self):
        """Return how many false incidents are plausible in the time of this world."""
        return MAX_FALSE_A_YEAR * self.world.nights / 365

    def ranges(self):
        """Where commits in between were measured later, the incident begins at the first slow one of them."""
        problems = []
        for bisect in self.world.bisects:
            for change in self.losses:
                if int(change.since) != bisect.of_night:
                    continue
                first_slow = math.ceil(change.since * COMMITS_A_DAY)
                good, slow = (commit_of(bisect.job, commit) for commit in (first_slow - 1, first_slow))
                problems += [
                    f"{words(change)} is told from {one.since} to {one.until}"
                    for one in self.told["regression"]
                    if self._is_of(one, change) and (one.since.commit, one.until.commit) != (good, slow)
                ]
        return problems

    def machines(self):
        """What a machine does is told of the machine, once, and of no product."""
        problems = []
        for change in self.world.changes:
            if change.product is not None:
                continue
            found = [
                one
                for one in self.told["environment"]
                if self._is_near(one, change.since) and self._hardware(one) in (None, change.machine.name)
            ]
            if len(found) != 1:
                problems.append(f"{words(change)} is {len(found)} told incidents of the machine")
        return problems

    def recoveries(self):
        """A loss that ended is fixed, by a step back, while one that did not end is open."""
        problems = []
        for change in self.losses:
            for one in self.told["regression"]:
                if not is_large(change) or not self._is_of(one, change):
                    continue
                _, until = change.spans[-1]
                is_over = until is not None and until < self.world.nights - 8
                if is_over and (one.state != Incident.State.FIXED or one.recovered_by is None):
                    problems.append(f"{words(change)} is over, and incident {one.pk} is {one.state}")
                if until is None and one.state != Incident.State.NEW:
                    problems.append(f"{words(change)} goes on, and incident {one.pk} is {one.state}")
                if change.again and not one.events.filter(what="returned").exists():
                    problems.append(f"nobody noted that {words(change)} came again")
        return problems

    def silences(self):
        """Each outage is one silence, told before the third night, and over when the outage is."""
        problems = []
        told = list(self.told["silence"])
        for outage in self.world.outages:
            if outage.until - outage.since < MAX_MISSED_NIGHTS:
                continue
            found = [
                one
                for one in told
                if one.hardware.name == outage.machine.name
                and str(one.product or "") == (outage.product or "")
                and abs(one.started_at - night_at(outage.since)) < DAY
            ]
            what = f"the silence of {outage.product or ''} {outage.machine.name} from night {outage.since}"
            if len(found) != 1:
                problems.append(f"{what} is {len(found)} incidents")
                continue
            told.remove(found[0])
            missed = self.year.first_told[found[0].pk] - outage.since + 1
            if missed > MAX_MISSED_NIGHTS:
                problems.append(f"{what} was told after {missed} missed nights")
            if outage.until < self.world.nights and found[0].state != Incident.State.FIXED:
                problems.append(f"{what} is over, and its incident is {found[0].state}")
        return problems + [f"nothing was silent, and {one} was told" for one in told]

    @property
    def losses(self):
        """The injected losses of products; those that are large enough must be told."""
        return [one for one in self.world.changes if one.product is not None and one.factor < 1]

    def _is_of(self, incident, change):
        product = incident.product and incident.product.name
        return (product, incident.branch) == (change.product, change.branch) and any(
            self._is_near(incident, since) for since, _ in change.spans
        )

    def _is_near(self, incident, night):
        return abs(incident.started_at - night_at(night)) <= timedelta(days=MAX_NIGHTS_OFF, hours=12)

    def _hardware(self, incident):
        return incident.hardware and incident.hardware.name


def is_large(change):
    return 1 - change.factor >= LARGE_LOSS


def words(change):
    until = "" if change.until is None else f" until {change.until}"
    size = f"{100 * (change.factor - 1):+.0f} %"
    what = change.product or change.machine.name
    return f"{what} {change.branch if change.product else ''} {size} from night {change.since}{until}"
