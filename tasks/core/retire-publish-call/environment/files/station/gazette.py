"""The gazette: a note on the board."""

from station.news import publish


def report(value):
    """Note the value."""
    return publish("gazette", value)
