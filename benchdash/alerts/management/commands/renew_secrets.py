from typing import Any

from django.core.management.base import BaseCommand

from benchdash.alerts.models import CodeHost, Subscription


class Command(BaseCommand):
    help = (
        "Encrypt tokens of code hosts and secrets of webhooks with SECRET_KEY, so that no old key is needed."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        for model in (CodeHost, Subscription):
            renewed = lost = 0
            rows = model._default_manager.exclude(encrypted_secret="")
            for row in rows.iterator(chunk_size=500):
                if row.secret_trouble:
                    lost += 1
                    continue
                before, row.secret = row.encrypted_secret, row.secret
                # Who entered another secret meanwhile keeps that.
                same = rows.filter(pk=row.pk, encrypted_secret=before)
                renewed += same.update(encrypted_secret=row.encrypted_secret)
            self.stdout.write(f"{model._meta.db_table}: {renewed} encrypted, {lost} cannot be read")
