"""Is the crontab expanded by the rules, and are the answers for 29 February 2024 right?"""

import hashlib
import json

from workspace import content, digest_of

JOBS = "76c906db0fca64d38d7e1f391eac2c72c1d5b4d6240873a684d397fdca9e7eb1"  # of the list with sorted keys
RUNS = {
    "queue-mail": 288,
    "check-disks": 96,
    "poll-scanner": 144,
    "sync-calendar": 33,
    "rotate-tokens": 48,
    "night-probe": 18,
    "index-files": 24,
    "fetch-rates": 24,
    "heat-report": 8,
    "stock-feed": 10,
    "purge-cache": 4,
    "close-day": 1,
    "backup-files": 1,
    "wake-printers": 1,
    "open-doors": 1,
    "shut-doors": 1,
    "lock-safe": 1,
    "water-plants": 1,
    "winter-check": 1,
    "sunday-roast": 0,
    "dim-lights": 1,
    "weekly-digest": 0,
    "lab-courier": 1,
    "weekend-plan": 0,
    "gym-hall": 0,
    "tea-order": 1,
    "friday-13th": 0,
    "payroll-draft": 1,
    "payroll-final": 1,
    "even-rota": 1,
    "rota-swap": 0,
    "bins-out": 1,
    "ration-ink": 0,
    "bill-run": 0,
    "new-calendar": 0,
    "month-end": 1,
    "leap-day": 1,
    "leap-toast": 1,
    "frost-guard": 1,
    "long-months": 0,
    "garden": 0,
    "queue-fax": 2,
    "backup-db": 0,
}
BUSIEST = "06:30"
UNTOUCHED = {
    "FORMAT.md": "4c013ecc5241249f2438a4f19b1add22ed77194086a5b7a083190e1488e80ace",
    "jobs.cron": "f6294057ba4c9947f6d98aa2c9b12b6d0886523a3996ef0405630fa315eaef8a",
}


def jobs() -> None:
    """Every field of every job, by digest."""
    found = json.loads(content("jobs.json").decode("utf-8-sig"))
    assert [job["id"] for job in found] == list(RUNS), "other jobs, or another order"
    assert hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest() == JOBS, "a field is wrong"


def runs() -> None:
    """The number of starts of each job."""
    found = json.loads(content("runs.json").decode("utf-8-sig"))
    wrong = {name: found.get(name) for name in RUNS if found.get(name) != RUNS[name]}
    assert found == RUNS, f"wrong: {wrong}, not asked for: {sorted(set(found) - set(RUNS))}"


def busiest() -> None:
    """The earliest of the busiest minutes."""
    found = content("busiest.txt").decode("utf-8-sig").strip()
    assert found == BUSIEST, f"busiest.txt says {found[:60]!r}"


def untouched() -> None:
    """The crontab and its format, by digest."""
    for name, digest in UNTOUCHED.items():
        assert digest_of(name) == digest, name


GOALS = (jobs, runs, busiest)
KEPT = (untouched,)
