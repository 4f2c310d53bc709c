import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")

application = get_wsgi_application()

# Loaded before the processes part: all views, and the compiled detector, which the gate of a commit asks.
# They share this memory, and no request waits for it.
_ = get_resolver().url_patterns
import benchdash.regressions.detection.kernel  # noqa: E402, F401
from ingest.process_start import start_with_our_files  # noqa: E402

start_with_our_files("The web server")
