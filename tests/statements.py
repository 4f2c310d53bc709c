"""A guard over all statements of the tests: PostgreSQL takes 65,535 parameters, and tests have few rows."""

MAX_PARAMETERS = 1_000


class TooManyParametersError(AssertionError):
    """A statement with a parameter for each of many rows."""


def refuse_many_parameters(execute, sql, parameters, many, context):
    """A wrapper of Django's for what a connection executes."""
    if not many and parameters and len(parameters) > MAX_PARAMETERS:
        raise TooManyParametersError(f"{len(parameters)} parameters: {sql[:300]}")
    return execute(sql, parameters, many, context)
