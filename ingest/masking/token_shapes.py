"""Secrets that are known by their shape, whatever they are called and wherever they stand."""

import re
from typing import Final

_SHAPES: Final = (
    r"bd_[A-Za-z0-9_-]{16,}",  # our own
    r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-[A-Za-z0-9_-]{16,}",  # GitLab
    r"hv[sbr]\.[A-Za-z0-9_-]{20,}|(?<!\.)s\.[A-Za-z0-9]{24}(?![\w.-])",  # Vault
    r"eyJ[A-Za-z0-9_-]{8,4000}+(?:\.[A-Za-z0-9_-]*){1,4}",  # JSON Web Tokens
    r"xox[a-z](?:\.[a-z]+)?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",  # Slack
    r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",  # Google
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{32,}",  # Stripe; OpenAI and Anthropic
    r"glsa_[A-Za-z0-9_]{20,}|glc_[A-Za-z0-9+/=]{20,}",  # Grafana
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"dckr_pat_[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{32,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{32,}|AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    r"SCRAM-SHA-(?:1|256)\$[0-9]+:[^\s\"']+",  # a password as PostgreSQL keeps it
)
# The rest of such a web address is all that one needs to write there.
_WEBHOOK: Final = (
    r"hooks\.slack\.com/[a-z]+/",
    r"discord(?:app)?\.com/api/webhooks/",
    r"[a-z0-9-]+\.webhook\.office\.com/[a-z0-9]+/",
)
# A letter first: most places of a text are left at one glance.
TOKEN: Final = re.compile(rf"\b(?=[A-Za-z])(?:{'|'.join(_SHAPES)})")
WEBHOOK: Final = re.compile(rf"(://(?:{'|'.join(_WEBHOOK)}))[^\s\"'<>]+")
# The forms in which MySQL, MariaDB and crypt(3) keep a password.
PASSWORD_HASHES: Final = (
    re.compile(r"\*[0-9A-F]{40}(?!\w)"),
    re.compile(r"\$(?:2[abxy]|5|6|y|argon2\w{1,2})\$[A-Za-z0-9./$=,+]{20,}"),
)
# Shorter words are none of these.
MIN_LENGTH: Final = 16


def token_in(text: str) -> str | None:
    """Return the first part of a text that has the shape of a token or of a stored password."""
    if len(text) < MIN_LENGTH:
        return None
    found = filter(None, (shape.search(text) for shape in (TOKEN, WEBHOOK, *PASSWORD_HASHES)))
    return next((one[0] for one in found), None)
