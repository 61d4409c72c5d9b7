"""The whole page."""

from timetable.layout.columns import columns
from timetable.layout.grid import row


def page(lines, stops, trips):
    """One table for each line that has trips, in the order of their codes."""
    parts = []
    for code in sorted(lines):
        mine = [trip for trip in trips if trip.line.code == code]
        if mine:
            parts.append(table(lines[code], stops, mine))
    return "\n".join(parts)


def table(line, stops, trips):
    """Heading, names of the stops, trips, notes."""
    places = columns(line, stops)
    of = f" (variant of {line.base})" if line.base else ""
    rows = [["trip", *(stops[code].name for code in places)], *(row(trip, places, stops) for trip in trips)]
    text = [f"Line {line.code}: {line.name}{of}", *(" | ".join(cells) for cells in rows)]
    text += [f"  note: {note}" for trip in trips for note in trip.notes]
    return "\n".join(text) + "\n"
