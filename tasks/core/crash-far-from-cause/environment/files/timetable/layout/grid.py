"""One row of a table for each trip."""

from timetable.layout.errors import LayoutError


def row(trip, places, stops):
    """The times of a trip, each in the column of its stop, `-` where it does not stop."""
    cells = ["-"] * len(places)
    for code, time in trip.times.items():
        if code in stops and stops[code].closed:
            continue
        try:
            cells[places[code]] = time
        except KeyError:
            raise LayoutError(f"no column for stop {code} of trip {trip.number}: is it in stops.txt, and open?") from None
    return [trip.number, *cells]
