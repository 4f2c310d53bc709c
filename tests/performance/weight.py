"""What a browser loads along with a page, without a browser: everything static that its HTML names."""

import re
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders

from benchdash.launcher.static_files import packed

_NAMED = re.compile(rf'="/?{re.escape(settings.STATIC_URL.strip("/"))}/([^"]+)"')
# Of a style sheet and of a module.
_FURTHER = re.compile(r"""url\(["']?(?!data:)([^"')]+)|\bimport\s[^"'\n]*["']([^"']+)["']""")
# What others bundled into one file.
_WHOLE = ("plotly", "swagger-ui")


def weight_of_assets(html: str) -> dict[str, int]:
    """Bytes of each file, packed as collecting static files does."""
    return {name: _weight(name) for name in dict.fromkeys(_NAMED.findall(html))}


@cache
def _weight(name: str) -> int:
    found = finders.find(name)
    assert found, f"there is no static file {name}"
    content = Path(found).read_bytes()
    if name.endswith((".css", ".js")) and not any(one in name for one in _WHOLE):
        assert not _FURTHER.search(content.decode()), f"{name} loads more, which is not counted here"
    return len(packed(content))
