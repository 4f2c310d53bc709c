"""The filled database of a size: that of an earlier run where there is one."""

from dataclasses import replace
from pathlib import Path

from django.core.management import call_command

from benchmarks.performance.dataset import SIZES, load
from benchmarks.performance.detail import load_detail
from benchmarks.performance.loaded import Loaded, read_loaded, write_loaded
from benchmarks.performance.weights import weighed


def filled(size: int, var: Path) -> Loaded:
    """In the database of Django's settings, which lies in ``var``. Detail is added to what an earlier suite
    left without it.
    """
    call_command("migrate", verbosity=0)
    loaded = read_loaded(var) or load(SIZES[size])
    if not loaded.detail.columns:
        loaded = weighed(replace(loaded, detail=load_detail()))
        write_loaded(var, loaded)
    return loaded
