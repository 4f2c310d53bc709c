import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")

application = get_wsgi_application()
# Loaded before the processes part, all views stand in memory that they share, and no request waits for them.
_ = get_resolver().url_patterns
