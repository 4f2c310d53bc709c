class LaunchError(Exception):
    """Why benchdash cannot start; the message is one sentence for the person who typed ``make run``."""
