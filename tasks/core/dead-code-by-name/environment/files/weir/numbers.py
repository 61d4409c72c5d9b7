"""Sums and the like."""

LIMIT = 250


def whole(text):
    """The number, or None."""
    return int(text) if text.strip() else None


def mean(values):
    """The mean, rounded down."""
    return sum(values) // len(values)


def median(values):
    """The middle one."""
    return sorted(values)[len(values) // 2]


def clipped(value, limit=LIMIT):
    """The value, at most the limit."""
    return min(value, limit)


def factorial(number):
    """The product of all numbers up to this one."""
    return 1 if number < 2 else number * factorial(number - 1)


def grouped(rows, key):
    """The levels by the key of their day, in the order in which the keys come."""
    groups = {}
    for day, level in rows:
        groups.setdefault(key(day), []).append(level)
    return groups
