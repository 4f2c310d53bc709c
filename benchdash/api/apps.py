from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "benchdash.api"

    def ready(self) -> None:
        from benchdash.api import (  # noqa: PLC0415 - once Django is ready
            heartbeat,
            schema,  # noqa: F401 - drf-spectacular finds the extensions of imported modules
        )

        heartbeat.listen()
