import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")

application = get_wsgi_application()

# All views, their schema and the compiled detector are loaded before the workers fork: they share the memory.
_ = get_resolver().url_patterns
import benchdash.regressions.detection.kernel  # noqa: E402, F401
from benchdash.rest.operations import document  # noqa: E402
from ingest.storage.identity import start_with_our_files  # noqa: E402

document()
start_with_our_files("The web server")
