from django.apps import AppConfig


class BenchdashConfig(AppConfig):
    name = "benchdash"

    def ready(self) -> None:
        # Tasks are sent through the app that exists by then, from whichever process.
        import benchdash.celery  # noqa: F401, PLC0415 - for its effect, once Django is ready
