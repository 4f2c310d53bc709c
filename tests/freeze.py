"""Save the answers of every address for the sample projects: ``python -m tests.freeze FOLDER``.

Run it before and after a change that must not show, and compare the two folders with ``diff -r``. An answer
is kept without white space, one tag or JSON key a line, and without what differs from one run to the next.
A run takes ten minutes.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urljoin, urlsplit

MAX_ANSWERS_OF_A_KIND = 5
MAX_ANSWERS_OF_A_ROUTE = 30
PAGES = ["/", "/p/releases/", "/p/watch/", "/p/told/", "/api/docs/", "/p/none/", "/sign-in/", "/healthz"]
LISTS = [
    "projects", "products", "versions", "hardware", "configurations", "workloads", "runs", "series",
    "incidents", "articles", "subscriptions", "audit", "uploads", "workload-groups",
]  # fmt: skip
ASKED = [
    "compare/?project={p}&metric=tps", "compare/?project={p}&metric=tps&format=csv",
    "curves/?project={p}&metric=tps", "latency/?project={p}", "nights/?project={p}", "gate/?project={p}",
    "difference/?project={p}", "sweep/?project={p}",
    "runs/?project={p}&format=csv&limit=50", "series/?project={p}&limit=1000",
]  # fmt: skip
_LINK = re.compile(r"""(?:href|hx-get|data-url|data-src|data-figure|action)="([^"#]+)""")
_ADDRESS = re.compile(r'"((?:http://testserver)?/(?:api/v1|p)/[^"]*)"')
# What differs from one run to the next, and what stands for it.
_PASSING = [
    (re.compile(r'nonce="[^"]*"'), "nonce"),
    (re.compile(r'(csrf[a-z_]*"?[^"<>]{0,20}(?:value="|":"))[^"]*', re.IGNORECASE), r"\1CSRF"),
    (re.compile(r"(X-CSRFToken[^:]*:[^;]*;)[^&]*"), r"\1CSRF"),
    (re.compile(r"bd_[A-Za-z0-9_-]{5,}"), "TOKEN"),
    (re.compile(r"/static/[^\"')]*"), "/static/"),
    (re.compile(r"\d+(?:\.\d+)?\s*(?:seconds?|minutes?|hours?|s|ms|min)\s*ago"), "AGO"),
    (re.compile(r"[A-Za-z0-9_-]{30,}(?::[A-Za-z0-9_-]+)+"), "SIGNED"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="benchdash-freeze-") as var:
        os.environ.update(BENCHDASH_VAR=var, ANONYMOUS_PER_MINUTE="1000000", SITE_URL="http://testserver")
        os.environ["DJANGO_SETTINGS_MODULE"] = "benchdash.settings"
        (Path(var) / "static").mkdir()
        from benchdash import embedded
        from benchdash.embedded import servers

        needed = servers.needed(Path(var), os.environ)
        with servers.running(Path(var), needed):
            os.environ.setdefault("DATABASE_URL", embedded.database_url(Path(var)))
            _freeze(folder, Path(var))


def _freeze(folder: Path, var: Path) -> None:
    import django
    from django.conf import settings

    # Pages name their style sheets as they are.
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.ALLOWED_HOSTS = ["*"]
    django.setup()
    _load_projects()
    _say("loaded")
    for person in ("nobody", "admin"):
        answers = 0
        for address, response in _answers(person):
            _save(folder / person, address, response)
            answers += 1
        _say(f"{person}: {answers} answers")
    mails = folder / "mails"
    mails.mkdir()
    for number, mail in enumerate(sorted((var / "mail").rglob("*"))):
        if mail.is_file():
            text = re.sub(r"\d{4}-\d{2}-\d{2}", "DAY", mail.read_text())
            (mails / str(number)).write_text(_without_passing(text))


def _load_projects() -> None:
    from django.core.management import call_command
    from django.test import Client

    from benchdash.accounts.models import Membership, Project, Role, User
    from benchdash.accounts.services import create_project, create_token
    from benchdash.alerts import tasks
    from benchdash.regressions import services

    call_command("migrate", verbosity=0)
    call_command("load_samples", stdout=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    admin = User.objects.create_user("admin@example.org", "freeze the answers", name="Admin")
    told = create_project("told", public=True)
    for project in Project.objects.all():
        Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
    _, token = create_token(told, name="freeze", scopes=["upload", "read", "admin"])
    call_command("subscribe", "admin@example.org", project="told")
    client = Client(headers={"Authorization": f"Bearer {token}"})
    last = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=1)
    from django.core.files.uploadedfile import SimpleUploadedFile

    fields = {"product": "MariaDB", "version": "main", "hardware": "box", "branch": "main"}
    for workload, base in (("oltp_read_only", 1000), ("oltp_read_write", 400)):
        for threads in (1, 8):
            values = [base * (0.8 if night >= 20 else 1) * (1 + night * 7 % 5 / 1000) for night in range(26)]
            lines = [
                json.dumps({"time": (last - timedelta(days=25 - night)).isoformat(), "tps": value})
                for night, value in enumerate(values)
            ]
            file = SimpleUploadedFile(f"{workload}-{threads}.jsonl", "\n".join(lines).encode())
            sent = {**fields, "workload": workload, "threads": threads, "file": file}
            answer = client.post("/api/v1/uploads/", sent)
            assert answer.status_code == 201, answer.content
    while services.analyse_touched():
        pass
    tasks.send_alerts()


def _answers(person: str) -> Iterator[tuple[str, object]]:
    """Follow the links of the pages and the API, a limited number of each kind, breadth first."""
    from django.test import Client

    client = Client(raise_request_exception=False)
    if person == "admin":
        assert client.login(username="admin@example.org", password="freeze the answers")
    projects = ("releases", "watch", "told")
    seeds = [*PAGES, "/api/schema/?format=json"]
    seeds += [f"/api/v1/{name}/?project={project}" for name in LISTS for project in projects]
    seeds += [f"/api/v1/{asked.format(p=project)}" for asked in ASKED for project in projects]
    waiting, seen, kinds = deque(seeds), set(seeds), Counter()
    while waiting:
        address = waiting.popleft()
        response = client.get(address)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        response.frozen = content
        yield address, response
        kind = response.headers.get("Content-Type", "")
        text = content.decode(errors="replace") if len(content) < 3_000_000 else ""
        found = _LINK.findall(text) if "html" in kind else _ADDRESS.findall(text) if "json" in kind else []
        if response.headers.get("Location"):
            found.append(response.headers["Location"])
        for link in found:
            absolute = urlsplit(urljoin(f"http://testserver{address}", link.replace("&amp;", "&")))
            if absolute.netloc != "testserver" or absolute.path.startswith(
                ("/static/", "/sign-out", "/admin")
            ):
                continue
            query = f"?{absolute.query}" if absolute.query else ""
            following = f"{absolute.path}{query}"
            kind_of = (_route(absolute.path), tuple(sorted({name for name, _ in parse_qsl(absolute.query)})))
            if following in seen or kinds[kind_of] >= MAX_ANSWERS_OF_A_KIND:
                continue
            if kinds[kind_of[0]] >= MAX_ANSWERS_OF_A_ROUTE:
                continue
            kinds[kind_of] += 1
            kinds[kind_of[0]] += 1
            seen.add(following)
            waiting.append(following)


def _route(path: str) -> str:
    return re.sub(r"/\d+(?=/|$)", "/N", path)


def _save(folder: Path, address: str, response) -> None:
    folder.mkdir(exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9=,._-]+", "_", address).strip("_")[:120] or "root"
    digest = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()[:6]
    kind = response.headers.get("Content-Type", "").split(";")[0]
    text = response.frozen.decode(errors="backslashreplace")
    if "html" in kind:
        text = re.sub(r"\s+", "", _without_passing(text)).replace("<", "\n<")
    elif "json" in kind:
        with contextlib.suppress(ValueError):
            text = json.dumps(json.loads(text), indent=0, ensure_ascii=False)
        text = _without_passing(text)
    else:
        text = _without_passing(text)
    head = f"{address}\n{response.status_code} {kind} {response.headers.get('Location', '')}\n"
    (folder / f"{name}.{digest}").write_text(_without_today(head + text))


def _without_passing(text: str) -> str:
    for pattern, word in _PASSING:
        text = pattern.sub(word, text)
    return text


def _without_today(text: str) -> str:
    """Leave out the moment of today at which something was made."""
    now = datetime.now(UTC)
    for day in (now, now - timedelta(days=1)):
        text = re.sub(rf"{day:%Y-%m-%d}[T ]?\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?", "TODAY", text)
    return text


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
