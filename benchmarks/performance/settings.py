"""The product's settings, and beside them bare views, and answers that tell how much SQL they took."""

from benchdash.settings import *  # noqa: F403 - a settings module is its names
from benchdash.settings import MIDDLEWARE, REST_FRAMEWORK, THROTTLE_RATES

ROOT_URLCONF = "benchmarks.performance.urls"
MIDDLEWARE = ["benchmarks.performance.counting.count_statements", *MIDDLEWARE]
# One client asks as fast as it can.
REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_THROTTLE_RATES": {**THROTTLE_RATES, "anonymous": "10000000/min", "uploads": "10000000/min"},
}
