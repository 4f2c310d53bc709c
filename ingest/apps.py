from celery.signals import worker_init
from django.apps import AppConfig


class IngestConfig(AppConfig):
    name = "ingest"

    def ready(self) -> None:
        from ingest.storage.identity import start_with_our_files  # noqa: PLC0415 - once Django is ready

        def refuse_to_start(**_signal: object) -> None:
            start_with_our_files("The worker")

        worker_init.connect(refuse_to_start, weak=False, dispatch_uid="ingest.storage")
