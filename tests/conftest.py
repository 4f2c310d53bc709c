"""Fixtures of all tests: the SMTP server, the Celery worker and the browser."""

import asyncio
import gc
import os

import hypothesis
import pytest

from tests import schema_check
from tests.chromium import PROGRAM, WINDOW, running_chromium
from tests.statements import refuse_many_parameters

# Few tests that take long: one of them that began last would keep the other processes waiting.
_BEGUN_FIRST = frozenset(
    {
        "tests/api/test_contract.py",
        "tests/dashboard/pages/articles/test_in_browser.py",
        "tests/dashboard/test_views_in_browser.py",
        "tests/entrance/test_application.py",
        "tests/entrance/test_bounds.py",
        "tests/performance/test_requests.py",
        "tests/scenario/test_year.py",
        "tests/test_bad_requests.py",
        "tests/test_docs.py",
        "tests/test_launcher.py",
        "tests/test_machines.py",
        "tests/test_pipeline.py",
        "tests/test_visibility.py",
    }
)
# What a page shows is waited for, on a machine that is busy with other things, too.
_BROWSER_WITHIN_MS = 120_000
_CHROMIUM_MISSING = "browser tests need Chromium: apt-get install chromium"


# --- servers ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """The test database, which is dropped at the end even where a killed worker still seems connected."""
    yield
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        # PostgreSQL ends its own workers, such as autovacuum's, and lets nobody else do so.
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )


@pytest.fixture(autouse=True)
def _empty_cache(request):
    """Throttles and queues of one test mean nothing to the next."""
    is_marked = request.node.get_closest_marker("django_db") is not None
    if is_marked or {"db", "transactional_db"}.intersection(request.fixturenames):
        from django.core.cache import cache

        cache.clear()


@pytest.fixture(autouse=True)
def _answers_fit_the_schema():
    """Every JSON answer of the API in a test is as the OpenAPI schema says."""
    yield
    assert schema_check.errors_of_answers() == []


@pytest.fixture(scope="session")
def _smtp_server():
    from tests.smtp_server import SmtpServer

    server = SmtpServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def smtp(_smtp_server, settings):
    """A real SMTP server that gets every mail of this process and of the worker; see SmtpServer."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT = _smtp_server.port
    _smtp_server.forget_everything()
    return _smtp_server


@pytest.fixture
def webhook_server(settings):
    """A real HTTP server on this machine, to which webhooks may lead; see WebhookServer."""
    from tests.webhook_server import WebhookServer

    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    server = WebhookServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def stored_files(settings, tmp_path):
    """A folder of this test, in which all raw files lie, small ones too."""
    from benchdash.storage_url import storage_of

    settings.UPLOAD_INLINE_BYTES = 0
    settings.STORAGES = {**settings.STORAGES, "default": storage_of((tmp_path / "files").as_uri())}
    return tmp_path / "files"


@pytest.fixture(scope="session")
def s3_server():
    """A real S3 server; see S3Server."""
    from tests.s3_server import S3Server

    server = S3Server()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def _worker_process(django_db_setup, live_server, _smtp_server):
    from tests.celery_worker import CeleryWorker, forget_queues

    # What runs already while a test clears Redis would seem to have ended.
    forget_queues()
    process = CeleryWorker(EMAIL_URL=_smtp_server.url, SITE_URL=live_server.url)
    process.start()
    yield process
    process.stop()


@pytest.fixture
def worker(transactional_db, live_server, _worker_process, settings):
    """A running Celery worker on the database of this test; see CeleryWorker."""
    settings.SITE_URL = live_server.url
    _worker_process.wake()
    logged = len(_worker_process.log)
    yield _worker_process
    _worker_process.rest()
    # pytest shows it where the test failed.
    print(_worker_process.log[logged:])  # noqa: T201


@pytest.fixture
def worker_of(_worker_process):
    """``worker_of(queue, ...)`` is a worker of these queues alone, beside which there is no other."""
    from tests.celery_worker import CeleryWorker, forget_queues

    _worker_process.stop()  # if no test before has killed it
    forget_queues()
    started = []

    def start(*queues, **environment):
        worker = CeleryWorker(queues=queues, EMAIL_URL=_worker_process.email_url, **environment)
        worker.start()
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.stop()
    forget_queues()


@pytest.fixture(scope="session", autouse=True)
def _few_parameters():
    """No statement of a test or of its live server has a parameter for each of many rows."""
    from django.db.backends.signals import connection_created

    def guard(connection, **_signal):
        if refuse_many_parameters not in connection.execute_wrappers:
            connection.execute_wrappers.append(refuse_many_parameters)

    connection_created.connect(guard)
    yield
    connection_created.disconnect(guard)


# --- browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def no_loop_of_the_browser():
    """Let event loops run where earlier tests of the process left that of the browser, which stands still.

    For a whole module: with another loop Django has another connection to the database.
    """
    standing = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(standing)


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, driven by Playwright."""
    if not PROGRAM.exists():
        pytest.skip(_CHROMIUM_MISSING)
    from playwright.sync_api import expect

    expect.set_options(timeout=_BROWSER_WITHIN_MS)
    with running_chromium() as chromium:
        yield chromium


@pytest.fixture
def page_errors():
    """What the pages of this test complained of. A test that expects a complaint removes it."""
    return []


@pytest.fixture
def chromium_page(browser, live_server, page_errors):
    """A page whose relative addresses lead to the live server; errors and foreign requests fail the test."""
    context = browser.new_context(base_url=live_server.url, viewport=WINDOW)
    context.set_default_timeout(_BROWSER_WITHIN_MS)
    context.on("console", lambda message: _note_complaint(message, page_errors))
    context.on("weberror", lambda error: page_errors.append(str(error.error)))
    context.on("request", lambda request: _note_foreign(request.url, live_server.url, page_errors))
    yield context.new_page()
    context.close()
    assert page_errors == []


@pytest.fixture
def sign_in(chromium_page, live_server, client):
    """``sign_in(user)`` gives the browser a session of that user."""

    def sign_in(user):
        client.force_login(user)
        cookie = client.cookies["sessionid"]
        chromium_page.context.add_cookies(
            [{"name": cookie.key, "value": cookie.value, "url": live_server.url}]
        )

    return sign_in


def _note_complaint(message, page_errors):
    # Chromium asks for an icon by itself; the pages of Django's admin name none.
    if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
        page_errors.append(message.text)


def _note_foreign(url, own, page_errors):
    if not url.startswith((own, "data:", "blob:", "about:")):
        page_errors.append(f"a request left for {url}")


# --- what the continuous integration insists on -------------------------------------------------------------


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.location[0] not in _BEGUN_FIRST)
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker("browser")


class _NoSkippedBrowser:
    """In CI a browser test that did not run is a failure."""

    def __init__(self):
        self.skipped = []

    def pytest_runtest_logreport(self, report):
        if report.skipped and "browser" in report.keywords and _CHROMIUM_MISSING in str(report.longrepr):
            self.skipped.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if self.skipped:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.skipped:
            terminalreporter.write_line(
                f"CI must run every browser test, and {len(self.skipped)} were skipped.", red=True
            )


def pytest_collection_finish():
    """Keep all that is loaded out of garbage collection, and collect seldom, as the web server does."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 5, 5)


def pytest_configure(config):
    # The time of an example says how busy the machine is, and no run fails by examples of its own.
    hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
    hypothesis.settings.load_profile("repeatable")
    # What is loaded from here until the first test stays.
    gc.disable()
    is_controller = not hasattr(config, "workerinput")
    if is_controller and os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
        config.pluginmanager.register(_NoSkippedBrowser(), "no-skipped-browser")
