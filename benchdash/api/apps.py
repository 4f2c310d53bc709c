from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "benchdash.api"

    def ready(self) -> None:
        # drf-spectacular finds the extensions of imported modules.
        from benchdash.api import schema  # noqa: F401, PLC0415 - once Django is ready
