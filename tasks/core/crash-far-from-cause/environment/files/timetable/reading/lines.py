"""The file lines.txt."""

from timetable.model import Line
from timetable.reading.text import rows, words


def read_lines(path):
    """All lines by code."""
    return {code: Line(code, name, words(stops)) for code, name, stops in rows(path)}
