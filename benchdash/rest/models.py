"""Answers that are kept for a while."""

from django.db import models


class StoredAnswer(models.Model):
    """The answer to a request with an ``Idempotency-Key``, for who sends the same again.

    ``asker`` is the token or user as benchdash.throttling names them; ``request`` is a hash of the request.
    ``body`` is encrypted; ``rights`` are those that the asker needed, as ``Viewer.granted`` has them.
    """

    asker = models.CharField(max_length=200)
    key = models.CharField(max_length=255)
    request = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    location = models.CharField(max_length=2000, default="", blank=True)
    body = models.BinaryField()
    rights = models.JSONField(default=list)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["asker", "key"], name="one_answer_to_a_key")]

    def __str__(self) -> str:
        return f"{self.status} to {self.key}"
