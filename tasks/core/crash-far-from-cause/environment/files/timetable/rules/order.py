"""The order of the trips in a table."""


def in_order(trips):
    """By the time at the first stop, times after midnight last, then by number."""
    return sorted(trips, key=lambda trip: (first(trip).endswith("+"), first(trip), trip.number))


def first(trip):
    """The time at the first stop that the line has and the trip serves."""
    return next((trip.times[stop] for stop in trip.line.stops if stop in trip.times), "")
