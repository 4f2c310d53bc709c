from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.models import Project
from benchdash.alerts.subscriptions import subscribe
from benchdash.results.models import Hardware, Product

_Named = TypeVar("_Named", Product, Hardware)


class Command(BaseCommand):
    help = "Mail an address when something in a project became slower."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--product", metavar="NAME", help="only regressions of this product")
        parser.add_argument("--branch", default="", metavar="NAME", help="only regressions on this branch")
        parser.add_argument("--hardware", metavar="NAME", help="only regressions on this hardware")

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
