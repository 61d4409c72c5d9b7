"""What is done to the rows."""

from weir import dates, numbers


def step_drop_gaps(rows):
    """Without days that have no level."""
    return [row for row in rows if row[1] is not None]


def step_sort(rows):
    """By day."""
    return sorted(rows)


def step_scale(rows):
    """Levels in millimetres."""
    return [(day, level * 10) for day, level in rows]


def step_cap(rows):
    """No level above the limit."""
    return [(day, numbers.clipped(level)) for day, level in rows]


def step_above(rows):
    """Only levels above the mean."""
    middle = numbers.mean([level for _, level in rows])
    return [row for row in rows if row[1] > middle]


def step_smooth(rows):
    """Each level the median of three."""
    levels = [level for _, level in rows]
    return [(day, numbers.median(levels[max(0, at - 1) : at + 2])) for at, (day, _) in enumerate(rows)]


def step_by_week(rows):
    """One row a week, with the mean."""
    return [(week, numbers.mean(levels)) for week, levels in numbers.grouped(rows, dates.week).items()]


def step_by_month(rows):
    """One row a month, with the mean."""
    return [(month, numbers.mean(levels)) for month, levels in numbers.grouped(rows, dates.month).items()]
