"""The application that the web server runs."""

# First: it sets Django up.
from benchdash.wsgi import application as wsgi_application

# isort: split
from benchdash.entrance.application import Entrance

application = Entrance(wsgi_application)
