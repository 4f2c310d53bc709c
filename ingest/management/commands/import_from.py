from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import default_storage, storages
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash import embedded
from benchdash.accounts.access import BeingDeleted
from benchdash.embedded import ServerError, servers
from benchdash.embedded.postgresql import Postgresql
from benchdash.results.services import refresh_statistics
from benchdash.storage_url import storage_of
from ingest.older_installations import OlderInstallation, receive_all


class Command(BaseCommand):
    help = (
        "Receive all uploads of an older installation in this new one, with their projects. Not carried over "
        "are members, tokens, subscriptions, corrections, baselines, groups of workloads, articles, and what "
        "was decided about incidents. Done again, it goes on where it was interrupted."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("old", help="its var/ folder, or its DATABASE_URL")
        parser.add_argument(
            "--files",
            metavar="URL",
            help="its STORAGE_URL (default: media/ in its var/, else the storage of this installation)",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with _older(options["old"], options["files"]) as older:
                counts = receive_all(older, tell=self.stdout.write)
        except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn) as error:
            raise CommandError(f"it holds no uploads as benchdash stored them: {error}") from None
        except (BeingDeleted, ImproperlyConfigured, ServerError, psycopg.OperationalError) as error:
            raise CommandError(str(error)) from None
        refresh_statistics()
        ends = (f"{number} {end}" for end, number in sorted(counts.items()))
        self.stdout.write(", ".join(ends) or "it has no uploads")


@contextmanager
def _older(old: str, files: str | None) -> Iterator[OlderInstallation]:
    if "://" in old:
        with psycopg.connect(old) as database:
            yield OlderInstallation(database, _storage(files) if files else default_storage)
        return
    var = Path(old).resolve()
    if not (var / "postgresql").is_dir():
        raise CommandError(f"{old} is neither the var/ folder of an installation nor an address")
    if var == settings.VAR_DIR:
        raise CommandError(f"{old} is this installation itself")
    storage = _storage(files or (var / "media").as_uri())
    with servers.running(var, [Postgresql(var)]), psycopg.connect(embedded.database_url(var)) as database:
        yield OlderInstallation(database, storage)


def _storage(url: str) -> Any:
    return storages.create_storage(storage_of(url))
