"""The file trips.txt."""

from timetable.model import Trip
from timetable.reading.text import rows, words


def read_trips(path, lines):
    """All trips in the order of the file."""
    trips = []
    for number, code, times in rows(path):
        trips.append(Trip(number, lines[code], dict(part.split("=") for part in words(times))))
    return trips
