from django.apps import AppConfig
from django.core.checks import Tags, register
from django.db.backends.signals import connection_created

from benchdash.database.checks import warn_of_superuser
from benchdash.database.connections import bound_requests, keep_more_statements
from benchdash.database.lookups import send_lists_as_arrays


class BenchdashConfig(AppConfig):
    name = "benchdash"

    def ready(self) -> None:
        send_lists_as_arrays()
        connection_created.connect(keep_more_statements)
        connection_created.connect(bound_requests)
        # Tasks are sent through the app that exists by then, from whichever process.
        import benchdash.celery  # noqa: F401, PLC0415 - for its effect, once Django is ready
        from benchdash import heartbeat  # noqa: PLC0415

        heartbeat.listen()

        register(warn_of_superuser, Tags.database)
