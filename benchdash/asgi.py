"""What the web server runs."""

# Makes Django ready, which the other needs.
from benchdash.wsgi import application as wsgi_application

# isort: split
from benchdash.entrance.application import Entrance

application = Entrance(wsgi_application)
