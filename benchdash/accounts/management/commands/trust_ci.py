from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.identities.services import Conditions, trust_repository
from benchdash.accounts.management.shared import add_rights, in_words
from benchdash.accounts.models import Project
from benchdash.oidc_issuers import GITHUB_ACTIONS


class Command(BaseCommand):
    help = "Trust the jobs of a repository on GitHub or GitLab, which then need no stored secret."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("repository", help="org/name of GitHub, or the path of a project of GitLab")
        parser.add_argument(
            "--issuer",
            default=GITHUB_ACTIONS,
            metavar="URL",
            help=f"one of OIDC_ISSUERS; or {GITHUB_ACTIONS}",
        )
        parser.add_argument("--name", default="", help="by which people know it; or that of the repository")
        parser.add_argument("--repository-id", default="", metavar="NUMBER", help="or that of the first job")
        parser.add_argument("--branch", default="", help="only jobs of this branch")
        parser.add_argument("--environment", default="", help="only jobs of this environment")
        parser.add_argument("--workflow", default="", metavar="FILE", help="only jobs of this workflow")
        parser.add_argument("--protected-only", action="store_true", help="only protected branches and tags")
        add_rights(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        names = (
            "issuer",
            "repository",
            "repository_id",
            "branch",
            "environment",
            "workflow",
            "protected_only",
        )
        try:
            trust = trust_repository(
                Project.objects.get(slug=options["project"]),
                Conditions(**{name: options[name] for name in names}),
                name=options["name"],
                scopes=options["scope"],
                expires_in_days=options["expires"],
                hardware=options["hardware"],
            )
        except Project.DoesNotExist:
            raise CommandError(f"no project is called {options['project']!r}") from None
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"Jobs of {trust} act as a token of {in_words(trust.token)}.")
