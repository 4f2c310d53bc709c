"""Sessions as Django keeps them in the database, found without its query compiler by every page."""

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as KeptSessions
from django.contrib.sessions.models import Session
from django.utils import timezone

from benchdash.database.one_row import one_row


class SessionStore(KeptSessions):
    def _get_session_from_db(self) -> Any:
        found = one_row(Session, "session_key = %s AND expire_date > %s", [self.session_key, timezone.now()])
        if found is None:
            self._session_key = None
        return found
