class ServerError(Exception):
    """An embedded server could not be started or stopped; the message is one sentence for a person."""
