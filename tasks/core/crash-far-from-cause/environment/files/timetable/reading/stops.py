"""The file stops.txt."""

from timetable.model import Stop
from timetable.reading.text import rows


def read_stops(path):
    """All stops by code."""
    stops = {}
    for code, name, state in rows(path):
        stops[code] = Stop(code, name, closed=state == "closed")
    return stops
