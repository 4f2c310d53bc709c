from typing import Any, Final, TypeVar

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.models import Project
from benchdash.alerts.models import Subscription
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.models import Incident
from benchdash.results.models import Hardware, Product

_AS_THEY_ARE: Final = (
    *("workload_group", "metric", "smallest_change"),
    *("rhythm", "hour", "weekday", "time_zone", "all_quiet"),
)
_Named = TypeVar("_Named", Product, Hardware)


class Command(BaseCommand):
    help = "Mail an address when something in a project became slower, or a digest of what is new and open."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--product", metavar="NAME", help="only regressions of this product")
        parser.add_argument("--branch", default="", metavar="NAME", help="only regressions on this branch")
        parser.add_argument("--hardware", metavar="NAME", help="only regressions on this hardware")
        parser.add_argument(
            "--workload-group", default="", metavar="NAME", help="only workloads of this group"
        )
        parser.add_argument("--metric", default="", metavar="NAME", help="only this metric, such as tps")
        parser.add_argument(
            "--smallest-change", type=float, metavar="SHARE", help="only changes from this on: 0.05 is 5 %%"
        )
        parser.add_argument(
            "--kind",
            action="append",
            choices=Incident.Kind.values,
            help="what to tell of, repeatable; by default regressions and drifts",
        )
        parser.add_argument(
            "--rhythm",
            choices=Subscription.Rhythm.values,
            default=Subscription.Rhythm.IMMEDIATELY,
            help="a mail at once for each incident, or a digest",
        )
        parser.add_argument("--hour", type=int, default=8, help="of a digest, 0 to 23; by default 8")
        parser.add_argument("--weekday", type=int, default=0, help="of a weekly digest; Monday is 0")
        parser.add_argument("--time-zone", default="", metavar="ZONE", help="such as Europe/Berlin")
        parser.add_argument(
            "--all-quiet", action="store_true", help="send digests when there is nothing to tell, too"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"no project is called {options['project']!r}")
        try:
            _, created = subscribe(
                project,
                options["address"],
                product=self._named(Product, project, options["product"]),
                branch=options["branch"],
                hardware=self._named(Hardware, project, options["hardware"]),
                kinds=options["kind"] or [Incident.Kind.REGRESSION, Incident.Kind.DRIFT],
                **{name: options[name] for name in _AS_THEY_ARE},
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        self.stdout.write("subscribed" if created else "was subscribed already")

    def _named(self, model: type[_Named], project: Project, name: str | None) -> _Named | None:
        """Return the thing with that name, made here if its first result is still to come."""
        if not name:
            return None
        thing, created = model.objects.get_or_create(project=project, name=name)
        if created:
            self.stderr.write(f"{self.style.NOTICE('note:')} {project.slug} has no results of {name!r} yet")
        return thing
