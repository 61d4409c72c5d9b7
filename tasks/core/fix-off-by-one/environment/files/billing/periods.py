"""Lists of billing periods that follow one another without a gap.

A period is a pair of its first and its last day, and both are paid for. Only `windows` gives half-open pairs.
"""

from datetime import date, timedelta

DAY = timedelta(days=1)


def daily(start, count):
    """`count` periods of one day."""
    periods = []
    first = start
    for _ in range(count):
        last = first + timedelta(days=1)
        periods.append((first, last - DAY))
        first = last
    return periods


def weekly(start, count):
    """`count` periods of seven days."""
    periods = []
    first = start
    for _ in range(count):
        last = first + timedelta(days=7)
        periods.append((first, last - DAY))
        first = last
    return periods


def fortnightly(start, count):
    """`count` periods of fourteen days."""
    periods = []
    first = start
    for _ in range(count):
        last = first + timedelta(days=14)
        periods.append((first, last))
        first = last
    return periods


def four_weekly(start, count):
    """`count` periods of 28 days."""
    periods = []
    first = start
    for _ in range(count):
        last = first + timedelta(days=28)
        periods.append((first, last - DAY))
        first = last
    return periods


def windows(start, count, days):
    """`count` half-open pairs: the first day, and the first day after the last one."""
    periods = []
    first = start
    for _ in range(count):
        last = first + timedelta(days=days)
        periods.append((first, last))
        first = last
    return periods


def monthly(start, count):
    """`count` periods that begin on the first day of a month; `start` may be any day of the first month."""
    periods = []
    first = start.replace(day=1)
    for _ in range(count):
        last = next_month(first)
        periods.append((first, last - DAY))
        first = last
    return periods


def next_month(day):
    """The first day of the month after that of `day`."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def days_paid(periods):
    """How many days these periods hold together, first and last day included."""
    return sum((last - first).days + 1 for first, last in periods)
