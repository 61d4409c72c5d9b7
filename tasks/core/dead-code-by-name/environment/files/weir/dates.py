"""Days."""

import datetime


def parsed(day):
    """The day as a date."""
    return datetime.date.fromisoformat(day)


def week(day):
    """The week of a day, such as W09."""
    return f"W{parsed(day).isocalendar()[1]:02d}"


def month(day):
    """The month of a day."""
    return day[:7]


def before(day):
    """The day before."""
    return after(day, -1)


def after(day, days=1):
    """So many days later, or earlier."""
    if days < -31:
        return before(after(day, days + 1))
    return str(parsed(day) + datetime.timedelta(days))


def stamp(rows):
    """The last line of a report: which days it has seen."""
    return f"({min(day for day, _ in rows)} to {max(day for day, _ in rows)})"
