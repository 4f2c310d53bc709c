from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.models import Project, Scope
from benchdash.accounts.services import create_token


class Command(BaseCommand):
    help = "Make a token for one project. It is shown once, alone on the last line, and not kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="by which people know what uses it")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--scope",
            required=True,
            action="append",
            choices=Scope.values,
            help="may be given several times. upload: send, and see what it sent; read: see all else of a"
            " private project; triage: judge, correct and subscribe, and read; admin: administer, triage and"
            " read",
        )

    def handle(self, *_: Any, name: str, project: str, scope: list[str], **__: Any) -> None:
        try:
            token, secret = create_token(Project.objects.get(slug=project), name, scope)
        except Project.DoesNotExist:
            raise CommandError(f"no project is called {project!r}") from None
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"A token of '{project}' that may {', '.join(token.scopes)}:")
        self.stdout.write(secret)
