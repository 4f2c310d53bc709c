from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.services import create_project


class Command(BaseCommand):
    help = "Make a project; its slug is its name in addresses and in commands."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--name", default="", help="as pages show it; the slug where it is left out")
        visibility = parser.add_mutually_exclusive_group()
        visibility.add_argument("--public", action="store_true", help="anyone may read it")
        visibility.add_argument(
            "--private", action="store_false", dest="public", help="members only, which is the default"
        )

    def handle(self, *_: Any, slug: str, name: str, public: bool, **__: Any) -> None:
        try:
            project = create_project(slug, name=name, public=public)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"The {project.visibility} project '{project.slug}' is there.")
