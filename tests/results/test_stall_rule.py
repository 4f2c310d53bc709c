"""The settings say what a stall is, a project may say otherwise."""

from benchdash.accounts.models import Project
from benchdash.results.stability import DEFAULT_RULE, Rule
from benchdash.results.stall_rule import stall_rule


def test_the_settings_have_the_rule_that_numbers_have_without_them():
    assert stall_rule(Project()) == DEFAULT_RULE


def test_a_project_may_have_a_rule_of_its_own(settings):
    settings.STALL_BELOW = 0.3
    settings.STALL_FEWEST_INTERVALS = 20
    options = {"stall_min_s": 5, "stall_warmup_s": 60}
    assert stall_rule(Project(options=options)) == Rule(below=0.3, min_s=5, fewest=20, warmup_s=60)
    assert stall_rule(Project(options={"stall_below": 0.8})).below == 0.8
