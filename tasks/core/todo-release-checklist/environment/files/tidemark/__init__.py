"""Tide tables for small harbours."""

__version__ = "4.7.2"

# The format of the files that `tidemark export` writes; it changes only with the format, not with a release.
FORMAT = "4.7"


def user_agent():
    """How the program names itself to a tide server."""
    return f"tidemark/{__version__} (format {FORMAT})"
