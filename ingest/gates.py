"""The answer of the gate, which waits for files that are still being read."""

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.gate import Gate, Question, decide
from ingest.queries import are_still_read


def answer_of(project: Project, question: Question) -> Gate:
    """Decide, and say where files that are still being read may change it. Raises GateError."""
    gate = decide(project, question)
    side = gate.sides.subject
    is_waiting = are_still_read(project, commit=side.commit, version=side.version, branch=side.branch)
    return gate.while_waiting() if is_waiting else gate
