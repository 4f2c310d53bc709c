from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.management.shared import add_rights, in_words
from benchdash.accounts.models import Project
from benchdash.accounts.services import create_token


class Command(BaseCommand):
    help = "Make a token for one project. It is shown once, alone on the last line, and not kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="by which people know what uses it")
        add_rights(parser)

    def handle(
        self,
        *_: Any,
        name: str,
        project: str,
        scope: list[str],
        expires: int | None,
        hardware: str,
        **__: Any,
    ) -> None:
        try:
            token, secret = create_token(
                Project.objects.get(slug=project), name, scope, expires_in_days=expires, hardware=hardware
            )
        except Project.DoesNotExist:
            raise CommandError(f"no project is called {project!r}") from None
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"A token of {in_words(token)}:")
        self.stdout.write(secret)
