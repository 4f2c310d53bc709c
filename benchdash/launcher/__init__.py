"""Behind ``make run``: starts everything that benchdash consists of, keeps it running, and stops it."""


class LaunchError(Exception):
    """Why benchdash cannot start; the message is one sentence for the person who typed ``make run``."""
