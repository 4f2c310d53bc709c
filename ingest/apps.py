from django.apps import AppConfig


class IngestConfig(AppConfig):
    name = "ingest"

    def ready(self) -> None:
        from ingest import process_start  # noqa: PLC0415 - once Django is ready

        process_start.listen()
