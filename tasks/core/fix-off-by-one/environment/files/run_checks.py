"""Checks of billing.periods; prints one line a check and ends with 1 if any of them fails."""

import sys
from datetime import date, timedelta
from itertools import pairwise

from billing import periods

START = date(2031, 1, 30)


def follow_one_another(name, found):
    """No gap between two periods and no day in two of them."""
    for (_, last), (first, _) in pairwise(found):
        if first != last + timedelta(days=1):
            return f"{name}: a period ends on {last} and the next one begins on {first}"
    return ""


def holds(name, found, days):
    """The periods hold this many days together."""
    paid = periods.days_paid(found)
    return "" if paid == days else f"{name}: {paid} days paid, expected {days}"


def checks():
    """Pairs of a function's name and what is wrong with it, empty where it is right."""
    for name, days in (("daily", 1), ("weekly", 7), ("fortnightly", 14), ("four_weekly", 28)):
        found = getattr(periods, name)(START, 5)
        yield name, follow_one_another(name, found) or holds(name, found, 5 * days)
    found = periods.monthly(START, 5)
    yield "monthly", follow_one_another("monthly", found) or holds("monthly", found, 31 + 28 + 31 + 30 + 31)
    found = periods.windows(START, 3, 10)
    touching = all(last == first for (_, last), (first, _) in pairwise(found))
    yield "windows", "" if touching else "windows: half-open pairs must touch"


def main():
    """Print all checks; 1 if any of them fails."""
    failed = 0
    for name, problem in checks():
        print(f"FAILED {problem}" if problem else f"ok     {name}")
        failed += bool(problem)
    print(f"{failed} failed" if failed else "all checks passed")
    return 1 if failed else 0


sys.exit(main())
