"""Trips that end before their line does."""


def short_turns(trips):
    """The trips, with a note where one ends early."""
    for trip in trips:
        served = [stop for stop in trip.line.stops if stop in trip.times]
        if served and served[-1] != trip.line.last():
            trip.notes.append(f"{trip.number} ends at {served[-1]}")
    return trips
