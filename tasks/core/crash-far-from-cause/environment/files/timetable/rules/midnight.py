"""Times after midnight are written as on a clock."""

from dataclasses import replace


def past_midnight(trips):
    """The trips with 24:08 as 00:08+; the plus keeps them behind the others."""
    return [replace(trip, times={stop: clock(time) for stop, time in trip.times.items()}) for trip in trips]


def clock(time):
    """A time as on a clock."""
    hour, minute = time.split(":")
    return f"{int(hour) - 24:02d}:{minute}+" if int(hour) >= 24 else time
