"""Settings of benchdash; everything that differs between installations comes from the environment."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from celery.schedules import crontab
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from benchdash import embedded
from benchdash.oidc_issuers import USUAL_ISSUERS, issuers_of
from benchdash.storage_url import storage_of

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("BENCHDASH_VAR", default=str(BASE_DIR / "var"))).resolve()
if not os.access(BASE_DIR / "benchdash", os.W_OK):
    # Compiled code is kept beside its source, but here that cannot be written.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(VAR_DIR / "compiled"))


def _environment_bool(name: str, *, default: bool) -> bool:
    """Refuses anything but 0 and 1: a typo must not switch a guard off."""
    value = os.environ.get(name, "1" if default else "0")
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}")
    return value == "1"


# --- who runs it, and where -------------------------------------------------------------------------------

DEBUG = _environment_bool("DEBUG", default=False)
HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8000)
SITE_URL = env.str("SITE_URL", default=f"http://{HOST}:{PORT}").rstrip("/")
HTTPS = SITE_URL.startswith("https://")
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS",
    default=["127.0.0.1", "localhost", "[::1]", HOST, urlsplit(SITE_URL).hostname or "localhost"],
)
CSRF_TRUSTED_ORIGINS = [SITE_URL]


MIN_SECRET_KEY = 50


def _secret_key() -> str:
    """From the environment, or made once per ``var/`` so that sessions outlive a restart."""
    if key := os.environ.get("SECRET_KEY"):
        if len(key) < MIN_SECRET_KEY and not DEBUG:
            raise ImproperlyConfigured(
                f"SECRET_KEY has {len(key)} characters and needs at least {MIN_SECRET_KEY}; sessions are"
                " signed with it. `openssl rand -hex 32` prints one."
            )
        return key
    return embedded.secret_key(VAR_DIR)


SECRET_KEY = _secret_key()
# Keys of before, which still open what was signed and encrypted with them.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])

# --- apps ---------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "benchdash.apps.BenchdashConfig",
    "benchdash.accounts",
    "benchdash.results",
    "benchdash.regressions",
    "benchdash.articles",
    "benchdash.rest",
    "benchdash.alerts",
    "ingest",
    "benchdash.dashboard",
    "benchdash.api",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
]
MIDDLEWARE = [
    # First, so that what the others answer by themselves carries the policy too.
    "csp.middleware.CSPMiddleware",
    "django.middleware.security.SecurityMiddleware",
    # Before anything that reads a body.
    "benchdash.entrance.middleware.refuse_early",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "benchdash.privacy.keep_answers_private",
    "benchdash.compression.CompressionMiddleware",
    "benchdash.rest.cross_origin.allow_other_sites",
    "benchdash.rest.conditional.answer_not_modified",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "benchdash.rest.slashes.SlashMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "benchdash.accounts.time_zones.use_time_zone_of_person",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "benchdash.throttling.throttle_pages",
]
ROOT_URLCONF = "benchdash.urls"
WSGI_APPLICATION = "benchdash.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

# --- data ---------------------------------------------------------------------------------------------------

DATABASES = {
    "default": environ.Env.db_url_config(os.environ.get("DATABASE_URL") or embedded.database_url(VAR_DIR))
}
# A new connection has to learn all its statements again.
DATABASES["default"].setdefault("CONN_MAX_AGE", 600)
DATABASES["default"].setdefault("CONN_HEALTH_CHECKS", True)
# To plan most queries takes longer than to run them: what is asked again and again is planned once for each
# connection. What the URL says behind its question mark comes first.
DATABASES["default"]["OPTIONS"] = {
    "server_side_binding": True,
    "prepare_threshold": 3,
    **DATABASES["default"].get("OPTIONS", {}),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL") or embedded.redis_url(VAR_DIR)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "benchdash",
        # A Redis that does not answer must not keep a page waiting.
        "OPTIONS": {"socket_timeout": 3, "serializer": "benchdash.cache.JSONSerializer"},
    },
}

# The store of raw files too large for a row: file:///folder, or s3://bucket/prefix?region=...&endpoint=...
STORAGE_URL = env.str("STORAGE_URL", default=(VAR_DIR / "media").as_uri())
STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(VAR_DIR / "static")))
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("docs", BASE_DIR / "docs" / "images"),
    ("plotly", BASE_DIR / "node_modules" / "plotly.js-basic-dist-min"),
]
STORAGES = {
    "default": storage_of(STORAGE_URL),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# --- jobs ---------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Workers ask every second, so that an answer which takes longer than this never comes.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "socket_timeout": 5}
CELERY_TASK_PUBLISH_RETRY = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1}
# Each kind of work has a queue and workers of its own, so that a night of long imports delays no mail.
CELERY_TASK_DEFAULT_QUEUE = "imports"
CELERY_TASK_ROUTES = {
    "ingest.*": {"queue": "imports"},
    "benchdash.regressions.*": {"queue": "analysis"},
    "benchdash.results.*": {"queue": "analysis"},
    # A code host may be slow; no mail waits for it.
    "benchdash.alerts.tasks.answer_*": {"queue": "code-hosts"},
    "benchdash.alerts.*": {"queue": "mail"},
    "benchdash.accounts.*": {"queue": "mail"},
}
SILENCES_EVERY_S = 3600.0
# A job that begins at night may wait for a worker until the next night.
NIGHT_JOBS_EXPIRE_S = 20 * 3600.0
CODE_HOSTS_EVERY_S = 15.0
# Beat sends a heartbeat to each queue, which a worker of the queue runs.
QUEUES = ["imports", "analysis", "mail", "code-hosts"]
HEARTBEAT_EVERY_S = env.float("HEARTBEAT_EVERY_S", default=10.0)


def _every(task: str, schedule: float | crontab, **options: object) -> dict[str, Any]:
    """Return an entry of beat. A task that no worker took up before its next time is dropped."""
    expires = schedule if isinstance(schedule, float) else NIGHT_JOBS_EXPIRE_S
    return {"task": task, "schedule": schedule, "options": {"expires": expires, **options}}


# PostgreSQL remembers what is due; beat asks it, so a lost doorbell costs seconds and loses nothing.
CELERY_BEAT_SCHEDULE = {
    "analyse-waiting-series": _every("benchdash.regressions.tasks.analyse_waiting", 10.0),
    "send-waiting-alerts": _every("benchdash.alerts.tasks.send_waiting", 10.0),
    "answer-pull-requests": _every("benchdash.alerts.tasks.answer_pull_requests", CODE_HOSTS_EVERY_S),
    "import-waiting-uploads": _every("ingest.tasks.import_waiting", 15.0),
    "delete-projects": _every("ingest.tasks.delete_projects", 15.0),
    "fold-summaries": _every("benchdash.results.tasks.fold_summaries", 60.0),
    "recompute-all": _every("benchdash.regressions.tasks.recompute_all", crontab(hour="1", minute="30")),
    "silences-due": _every("benchdash.regressions.tasks.silences_due", SILENCES_EVERY_S),
    "expire-pull-requests": _every("ingest.tasks.expire_pull_requests", crontab(hour="4", minute="45")),
    "delete-old-answers": _every("benchdash.rest.tasks.delete_old_answers", 3600.0),
    "clear-sessions": _every("benchdash.accounts.tasks.clear_sessions", crontab(hour="4", minute="30")),
    **{
        f"heartbeat-of-{queue}": _every("benchdash.heartbeat", HEARTBEAT_EVERY_S, queue=queue)
        for queue in QUEUES
    },
}
# The installation is not ready when beat or the workers of a queue were silent for so long. Workers that are
# at a job are silent for as long as it takes: they are given more time.
BEAT_SILENT_AFTER_S = env.float("BEAT_SILENT_AFTER_S", default=60.0)
WORKER_SILENT_AFTER_S = env.float("WORKER_SILENT_AFTER_S", default=60.0)
JOB_SILENT_AFTER_S = env.float("JOB_SILENT_AFTER_S", default=1800.0)
# It is degraded when the oldest upload, series or mail has waited for so long.
OLDEST_IMPORT_S = env.float("OLDEST_IMPORT_S", default=900.0)
OLDEST_ANALYSIS_S = env.float("OLDEST_ANALYSIS_S", default=900.0)
OLDEST_MAIL_S = env.float("OLDEST_MAIL_S", default=900.0)
# It is degraded when a disk has less room than this, and not ready when nothing can be stored any more.
DISK_LOW_BYTES = env.int("DISK_LOW_BYTES", default=2 * 2**30)
DISK_FULL_BYTES = env.int("DISK_FULL_BYTES", default=100 * 2**20)
# Tasks that are rung after a commit, by name: the package that rings knows no more than the name.
ANALYSIS_DOORBELL = "benchdash.regressions.tasks.analyse_touched"
# Analyses that are rung for begin at least so long after each other: a hundred files of CI share a few.
ANALYSIS_EVERY_S = env.float("ANALYSIS_EVERY_S", default=3.0)
# A look at a place reads so many of its values at most, the newest: a hundred bytes of memory each.
ANALYSIS_MOST_VALUES = env.int("ANALYSIS_MOST_VALUES", default=500_000)
# A place whose analysis fails is tried again after a minute, then after four times as long each time, and is
# set aside for the operator after so many tries.
PLACE_RETRY_S = env.float("PLACE_RETRY_S", default=60.0)
PLACE_MAX_TRIES = env.int("PLACE_MAX_TRIES", default=5)
ALERTS_DOORBELL = "benchdash.alerts.tasks.send_alerts"

# --- limits and rules ---------------------------------------------------------------------------------------

# Threads of each web process that answer requests, and the connections that it may have, in all and of one
# address. Behind a proxy, which has the connections, the requests at a time are counted.
WEB_THREADS = env.int("WEB_THREADS", default=8)
MAX_CONNECTIONS = env.int("MAX_CONNECTIONS", default=2000)
MAX_CONNECTIONS_PER_ADDRESS = env.int("MAX_CONNECTIONS_PER_ADDRESS", default=256)
# Answers that an address asked for and has not taken yet are in memory; beyond this it gets no more.
MAX_UNSENT_BYTES_PER_ADDRESS = env.int("MAX_UNSENT_BYTES_PER_ADDRESS", default=128 * 1024 * 1024)
# Within these seconds the head of a request must be there, then its body, and then its answer must be taken.
# Body and answer have longer in proportion to their size.
REQUEST_HEAD_SECONDS = env.float("REQUEST_HEAD_SECONDS", default=10)
REQUEST_BODY_SECONDS = env.float("REQUEST_BODY_SECONDS", default=30)
ANSWER_SECONDS = env.float("ANSWER_SECONDS", default=60)
MIN_BYTES_PER_SECOND = env.int("MIN_BYTES_PER_SECOND", default=50_000)
# A statement that takes longer than this is stopped, and so is a request, which has longer for a large body.
# Together they are less than the minute after which most proxies give up.
STATEMENT_SECONDS = env.float("STATEMENT_SECONDS", default=15)
REQUEST_SECONDS = env.float("REQUEST_SECONDS", default=40)
# A request may read so many rows and bytes from the database; in memory they take several times as much.
MAX_REQUEST_ROWS = env.int("MAX_REQUEST_ROWS", default=500_000)
MAX_REQUEST_BYTES = env.int("MAX_REQUEST_BYTES", default=128 * 1024 * 1024)
# A web process that holds more memory than this is replaced once it has answered what it took in.
MAX_PROCESS_BYTES = env.int("MAX_PROCESS_BYTES", default=768 * 1024 * 1024)
# Expensive pages, pictures and answers that are made at once in each web process, in all and of one
# address; so many more may wait for their turn, and for so long.
MAX_HEAVY = env.int("MAX_HEAVY", default=max(1, WEB_THREADS // 2))
MAX_HEAVY_PER_ADDRESS = env.int("MAX_HEAVY_PER_ADDRESS", default=2)
MAX_HEAVY_WAITING = env.int("MAX_HEAVY_WAITING", default=64)
MAX_HEAVY_WAITING_PER_ADDRESS = env.int("MAX_HEAVY_WAITING_PER_ADDRESS", default=16)
HEAVY_WAIT_SECONDS = env.float("HEAVY_WAIT_SECONDS", default=10)
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=200 * 1024 * 1024)
UPLOAD_INLINE_BYTES = 1024 * 1024  # raw files up to here live compressed in PostgreSQL
UPLOAD_IMPORT_AT_ONCE_BYTES = 5 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
ARCHIVE_MAX_FILES = env.int("ARCHIVE_MAX_FILES", default=20_000)
ARCHIVE_MAX_UNPACKED_BYTES = env.int("ARCHIVE_MAX_UNPACKED_BYTES", default=2 * 1024 * 1024 * 1024)
ARCHIVE_MAX_RATIO = env.int("ARCHIVE_MAX_RATIO", default=200)  # of the unpacked to the packed bytes
ARCHIVE_DRY_RUN_SECONDS = env.int("ARCHIVE_DRY_RUN_SECONDS", default=30)
# Limits of one result file, alone or in an archive: reading it takes several times its size of memory.
RESULT_FILE_MAX_BYTES = env.int("RESULT_FILE_MAX_BYTES", default=200 * 1024 * 1024)
RESULT_LINE_MAX_BYTES = env.int("RESULT_LINE_MAX_BYTES", default=1024 * 1024)
RESULT_JSON_MAX_BYTES = env.int("RESULT_JSON_MAX_BYTES", default=50 * 1024 * 1024)
RESULT_JSON_MAX_VALUES = env.int("RESULT_JSON_MAX_VALUES", default=1_000_000)
RESULT_MAX_LINES = env.int("RESULT_MAX_LINES", default=400_000)
RESULT_TABLE_MAX_CELLS = env.int("RESULT_TABLE_MAX_CELLS", default=100_000)
RESULT_MAX_SAMPLES = env.int("RESULT_MAX_SAMPLES", default=100_000)
RESULT_MAX_RUNS = env.int("RESULT_MAX_RUNS", default=10_000)
RESULT_MAX_CPU_SECONDS = env.float("RESULT_MAX_CPU_SECONDS", default=10)  # and one for each megabyte
# A run or a commit that is later than this from now is in the future, and refused.
CLOCK_TOLERANCE = timedelta(minutes=env.int("CLOCK_TOLERANCE_MINUTES", default=10))
# A stall: throughput below this share of the run's median, for at least so many seconds. Nothing is said of a
# run with fewer intervals, or of the seconds before them that are warm-up where nobody says how many were.
STALL_BELOW = env.float("STALL_BELOW", default=0.5)
STALL_MIN_S = env.float("STALL_MIN_S", default=1.0)
STALL_FEWEST_INTERVALS = env.int("STALL_FEWEST_INTERVALS", default=10)
STALL_WARMUP_S = env.float("STALL_WARMUP_S", default=0.0)
# Runs of one version at one place that follow each other within so many seconds are one session.
SESSION_GAP_S = env.float("SESSION_GAP_S", default=7200.0)
# A level that began longer ago than this when its file came in is listed, never mailed.
HISTORICAL_AFTER = timedelta(days=env.int("HISTORICAL_AFTER_DAYS", default=14))
# Versions that certainly differ by less than this share are the same; a project may have its own.
EQUIVALENCE_MARGIN = env.float("EQUIVALENCE_MARGIN", default=0.02)
# Settings whose values differ between two starts of the same server and mean nothing.
CONFIGURATION_NOISE = [
    "port",
    "socket",
    "pid-file",
    "server-id",
    "datadir",
    "tmpdir",
    "basedir",
    "log-error",
    "general-log-file",
    "slow-query-log-file",
    "data-directory",
    "unix-socket-directories",
    "report-port",
]

# --- mail ---------------------------------------------------------------------------------------------------

MAIL_DIR = VAR_DIR / "mail"
if EMAIL_URL := os.environ.get("EMAIL_URL"):
    vars().update(environ.Env.email_url_config(EMAIL_URL))
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = str(MAIL_DIR)
# For a copy of an installation: nothing is mailed, and what is owed stays owed.
HOLD_MAIL = _environment_bool("HOLD_MAIL", default=False)
if HOLD_MAIL:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
EMAIL_TIMEOUT = 20
# For a chat inside: webhooks may lead to private networks and to this machine.
WEBHOOKS_MAY_BE_PRIVATE = _environment_bool("WEBHOOKS_MAY_BE_PRIVATE", default=False)
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", default="benchdash <benchdash@localhost>")

# --- people -------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
# Who makes projects on the front page: superusers, or everyone who has signed in.
PROJECTS_MADE_BY = env.str("PROJECTS_MADE_BY", default="superusers")
if PROJECTS_MADE_BY not in {"superusers", "everyone"}:
    raise ImproperlyConfigured(f"PROJECTS_MADE_BY must be superusers or everyone, not {PROJECTS_MADE_BY!r}")
LOGIN_URL = "dashboard:sign_in"
LOGIN_REDIRECT_URL = "dashboard:home"
LOGOUT_REDIRECT_URL = "dashboard:home"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# Browsers take a cookie of this name only over https, and no other host can set it.
_COOKIE_PREFIX = "__Host-" if HTTPS else ""
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}csrftoken"
SECURE_SSL_REDIRECT = HTTPS
BEHIND_PROXY = _environment_bool("BEHIND_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# Lets browsers ship the name of the host as one of https for good; nobody takes that back within months.
SECURE_HSTS_PRELOAD = HTTPS and _environment_bool("HSTS_PRELOAD", default=False)
# A list in browsers is left again only after months: the operator decides, and not a check.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        # Plotly sets style attributes and inserts one style sheet of its own.
        "style-src": [SELF, "'unsafe-inline'"],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
# Whose pages may hold embedded charts in frames: all, or these (https://wiki.example.org). No other page may.
EMBED_ANCESTORS = env.list("EMBED_ANCESTORS", default=["*"])

# --- API ----------------------------------------------------------------------------------------------------

# Pages and API requests from one place without signing in or a token, refused tokens included.
ANONYMOUS_PER_MINUTE = env.int("ANONYMOUS_PER_MINUTE", default=600)
# Pages and API requests of one person who is signed in.
PERSON_PER_MINUTE = env.int("PERSON_PER_MINUTE", default=3000)
# PNG pictures of charts that are drawn for one place; services that fetch for many readers keep them.
PICTURES_PER_MINUTE = env.int("PICTURES_PER_MINUTE", default=120)
# API requests of one token; its uploads are counted apart.
TOKEN_PER_MINUTE = env.int("TOKEN_PER_MINUTE", default=6000)
# The answer to a request with an Idempotency-Key is kept for who sends it again within so many hours.
IDEMPOTENCY_KEY_HOURS = env.float("IDEMPOTENCY_KEY_HOURS", default=24.0)
# Sites whose scripts may read the API with a browser of somebody who can reach it: none, some, or * for all.
CORS_ORIGINS = env.list("CORS_ORIGINS", default=[])
THROTTLE_RATES = {
    "anonymous": f"{ANONYMOUS_PER_MINUTE}/min",
    "person": f"{PERSON_PER_MINUTE}/min",
    "token": f"{TOKEN_PER_MINUTE}/min",
    "pictures": f"{PICTURES_PER_MINUTE}/min",
    "uploads": "6000/min",
    # Tries to sign in: for one account from one place, from one place, and for one account. The last is high,
    # so that nobody locks somebody else out from a few places.
    "sign_in": "10/min",
    "sign_in_of_place": "30/min",
    "sign_in_of_account": "100/min",
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "benchdash.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["benchdash.parsing.GuardedJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["benchdash.rendering.FastJSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "benchdash.api.schema.Operations",
    "EXCEPTION_HANDLER": "benchdash.api.errors.exception_handler",
    # ?format=csv is the contract's, handled by the views themselves.
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "DEFAULT_THROTTLE_RATES": THROTTLE_RATES,
}
# Whose signed tokens of CI jobs are taken, with their public keys, and for whom these tokens must be meant.
OIDC_ISSUERS = issuers_of(env.str("OIDC_ISSUERS", default=USUAL_ISSUERS))
OIDC_AUDIENCE = env.str("OIDC_AUDIENCE", default=SITE_URL).rstrip("/")
# Opens /metrics and the details of /readyz to monitoring on another machine; empty: to nobody there.
OPERATOR_TOKEN = env.str("OPERATOR_TOKEN", default="")
SPECTACULAR_SETTINGS = {
    "TITLE": "benchdash",
    "DESCRIPTION": "The history of benchmark results: upload, read, compare.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    # From our own static files, and with no look at the schema by a validator elsewhere.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "benchdash.api.schema.add_problems",
        "benchdash.api.schema.complete_parameters",
        "benchdash.api.schema.add_tags",
        "benchdash.api.schema.add_examples",
    ],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "SERVERS": [{"url": "/", "description": "this installation"}],
    # Bodies of PATCH are declared like all others: what may be left out says so itself.
    "COMPONENT_SPLIT_PATCH": False,
    "WEBHOOKS": ["benchdash.api.views.webhooks.delivery"],
    "ENUM_NAME_OVERRIDES": {
        "CellVerdictEnum": ["better", "worse", "likely_better", "likely_worse", "same", "unknown"],
        "MetricKind": "benchdash.results.models.ProjectMetric.Kind",
        "IncidentKind": "benchdash.regressions.models.Incident.Kind",
        "IncidentState": "benchdash.regressions.models.Incident.State",
        "ChangePointState": "benchdash.regressions.models.ChangePoint.State",
        "UploadState": "ingest.models.Upload.State",
    },
}

# --- the rest -----------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
}
