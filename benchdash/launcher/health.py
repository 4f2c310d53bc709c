"""``python -m benchdash.launcher.health``: check the web server of this container.

It asks as the proxy would, so that neither the host nor the redirect to https is in the way.
"""

import http.client
import os
import sys
from urllib.parse import urlsplit

site = urlsplit(os.environ["SITE_URL"])
connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=5)
connection.request("GET", "/healthz", headers={"Host": site.netloc, "X-Forwarded-Proto": site.scheme})
sys.exit(connection.getresponse().status != http.client.OK)
