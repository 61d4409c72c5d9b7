"""Reads jobs.cron by the rules of FORMAT.md."""

from pathlib import Path

MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
SPANS = ((0, 59, []), (0, 23, []), (1, 31, []), (1, 12, MONTHS), (0, 7, WEEKDAYS))
KEYS = ("minutes", "hours", "days", "months", "weekdays")
MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}


def expand(field, first, last, names):
    """All values of one field; Sunday is 0."""
    values = set()
    for part in field.lower().split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        if span == "*":
            low, high = first, last
        low, high = (names.index(end) if end in names else int(end) for end in (low, high or low))
        values.update(range(low, high + 1, int(step or 1)))
    return sorted({value % 7 for value in values} if last == 7 else values)


def jobs():
    """All jobs in order; `fields` keeps the five fields as they are written."""
    found = {}
    for line in Path("jobs.cron").read_text(encoding="utf-8").splitlines():
        first = (line.split() or ["#"])[0]
        if first.startswith("#") or "=" in first or first == "@reboot":
            continue
        *fields, name, command = line.replace(first, MACROS.get(first, first), 1).split(None, 6)
        found.pop(name, None)
        values = {key: expand(field, *span) for key, field, span in zip(KEYS, fields, SPANS, strict=True)}
        found[name] = {"id": name, **values, "command": command.strip(), "fields": fields}
    return list(found.values())


def starts(job):
    """The hours and minutes at which a job starts on 29 February 2024, a Thursday."""
    day, weekday = 29 in job["days"], 4 in job["weekdays"]
    both = job["fields"][2].startswith("*") or job["fields"][4].startswith("*")
    if 2 not in job["months"] or not (day and weekday if both else day or weekday):
        return []
    return [(hour, minute) for hour in job["hours"] for minute in job["minutes"]]
