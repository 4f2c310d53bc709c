"""Code that the commands that make tokens share."""

import argparse

from django.core.management.base import CommandParser

from benchdash.accounts.models import Scope, Token

_MAX_DAYS = 3650


def add_rights(parser: CommandParser) -> None:
    """Add the options that say what a token may do, and for how long."""
    parser.add_argument("--project", required=True, metavar="SLUG")
    parser.add_argument(
        "--scope",
        required=True,
        action="append",
        choices=Scope.values,
        help="may be given several times. upload: send, and see what it sent; read: see all else of a"
        " private project; triage: judge, correct and subscribe, and read; admin: administer, triage and"
        " read",
    )
    parser.add_argument("--expires", type=_days, metavar="DAYS", help="it is refused after so many days")
    parser.add_argument(
        "--hardware", default="", metavar="NAME", help="it may only send what this machine measured"
    )


def in_words(token: Token) -> str:
    """Return what a new token may, in a sentence without its end."""
    until = f" until {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else ""
    bound = f", for runs of '{token.hardware}' alone" if token.hardware else ""
    return f"'{token.project.slug}' that may {', '.join(token.scopes)}{until}{bound}"


def _days(text: str) -> int:
    days = int(text)
    if not 1 <= days <= _MAX_DAYS:
        raise argparse.ArgumentTypeError(f"must be from 1 to {_MAX_DAYS}")
    return days
