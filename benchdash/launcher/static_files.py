"""Static files under ``var/static``, collected again when they change."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The best quality takes half a minute for all files, and saves a twelfth. Only Plotly is worth it: it is most
# of the weight of a page with a chart, and takes two seconds.
_QUALITY = 9
_BEST_QUALITY = 11
_LARGE_BYTES = 1_000_000
# Folders of files that no page asks for: of other programs' pages, which we do not show.
_NOT_SHOWN = ["redoc", "rest_framework"]


def packed(content: bytes) -> bytes:
    """Compress a file for browsers."""
    quality = _BEST_QUALITY if len(content) > _LARGE_BYTES else _QUALITY
    return bytes(brotli.compress(content, quality=quality))


class _QuickCompressor(Compressor):  # type: ignore[misc] # whitenoise ships no types
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return packed(data)


class QuickStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # whitenoise ships no types
    """Compress a little less than possible: somebody waits for ``make run``."""

    def create_compressor(self, **options: Any) -> Compressor:
        # Only who mends a script asks for its source map, and these are larger than all the rest.
        return _QuickCompressor(**{**options, "extensions": [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]})

    def compress_files(self, paths: Iterable[str]) -> Any:
        # Pages ask by the names that hold a digest; the same files by their own names are sent as they are.
        return super().compress_files(set(paths).intersection(self.hashed_files.values()))


def collect() -> None:
    state = _state_of_sources()
    mark = Path(settings.STATIC_ROOT) / ".collected-from"
    if mark.exists() and mark.read_text() == state:
        return
    settings.STORAGES["staticfiles"] = {"BACKEND": f"{__name__}.{QuickStorage.__name__}"}
    call_command("collectstatic", interactive=False, clear=True, verbosity=0, ignore_patterns=_NOT_SHOWN)
    mark.write_text(state)


def _state_of_sources() -> str:
    state = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            state.update(f"{storage.path(name)} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return state.hexdigest()
