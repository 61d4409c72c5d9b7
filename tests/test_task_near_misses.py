"""One thing spoiled after a task's own solution is never solved; the same thing in another form still is."""

from __future__ import annotations

import pytest

from tests.solved import SolvedTask

pytestmark = pytest.mark.anyio


def json_edit(name: str, change: str) -> str:
    """A command that changes `value`, what a JSON file holds; the change may contain no single quote."""
    load, dump = f'value = json.load(open("{name}"))', f'json.dump(value, open("{name}", "w"), indent=4)'
    return f"python3 -c 'import json; {load}; {change}; {dump}'"


# Task, what is spoiled, and the command that spoils it.
NEAR_MISSES = [
    ("log-root-cause", "the last hop is missing", json_edit("root_cause.json", 'value["chain"].pop()')),
    ("log-root-cause", "chain the other way round", json_edit("root_cause.json", 'value["chain"].reverse()')),
    ("log-root-cause", "an event too early to be the root", json_edit("root_cause.json", 'value["event"] = "E6113"')),
    ("log-root-cause", "the host that went down", json_edit("root_cause.json", 'value["host"] = "web-02"')),
    ("log-root-cause", "deploy without prefix", json_edit("root_cause.json", 'value["deploy"] = "7731"')),
    ("log-root-cause", "one key more", json_edit("root_cause.json", 'value["level"] = "WARN"')),
    ("log-root-cause", "the log was cut", "sed -i 1d logs/orders.log"),
    ("csv-join-report", "late returns refunded", "REPORT 2031-04-12"),
    ("csv-join-report", "returns of the last day kept", "REPORT 2031-04-10"),
    ("csv-join-report", "one unknown order forgotten", "sed -i 1d report/unknown.txt"),
    ("csv-join-report", "regions by name", "SORT report/regions.csv"),
    ("csv-join-report", "six products", "echo P01,1 >> report/products.csv"),
    ("csv-join-report", "number as text", json_edit("report/summary.json", 'value["orders"] = str(value["orders"])')),
    ("csv-join-report", "a script in report", "touch report/make.py"),
    ("csv-join-report", "tables changed", "sed -i '$d' data/returns.csv"),
    ("csv-join-report", "no header", "sed -i 1d report/regions.csv"),
    (
        "fix-off-by-one",
        "all of them changed",
        "sed -i 's/append((first, last))/append((first, last - DAY))/' billing/periods.py",
    ),
    (
        "fix-off-by-one",
        "one day too much taken",
        "sed -i '/days=14/,/append/s/last - DAY/last - 2 * DAY/' billing/periods.py",
    ),
    (
        "fix-off-by-one",
        "step made shorter instead",
        "sed -i '/days=14/,/append/{s/days=14/days=13/;s/last - DAY/last/}' billing/periods.py",
    ),
    ("fix-off-by-one", "parameter renamed", "sed -i '/def fortnightly/,/return/{s/count/number/g}' billing/periods.py"),
    ("fix-off-by-one", "checks weakened", "sed -i 's/1 if failed else 0/0/' run_checks.py"),
    ("fix-off-by-one", "note under an old release", "NOTE_BELOW '## 2.3.0'"),
    ("fix-off-by-one", "note below the other one", "NOTE_BELOW half-open"),
    ("fix-off-by-one", "note without quotes", "sed -i 's/`fortnightly` no/fortnightly no/' CHANGES.md"),
    ("fix-off-by-one", "broken syntax", "echo 'def' >> billing/periods.py"),
    ("config-migrate", "a secret in the new file", "sed -i 's/env:MAIL_PASSWORD/lemon.quarry.07/' config/app.json"),
    ("config-migrate", "a copy of the old file", "cp config/app.ini config/app.ini.bak"),
    ("config-migrate", "a secret in a comment", "echo '# was Tulip-Anchor-93' >> service/settings.py"),
    ("config-migrate", "variable in lower case", "sed -i 's/env:MAIL_PASSWORD/env:mail_password/' config/app.json"),
    ("config-migrate", "leading zeros lost", "sed -i 's/\"0071\"/71/' config/app.json"),
    ("config-migrate", "version as number", "sed -i 's/\"3.10\"/3.10/' config/app.json"),
    ("config-migrate", "inherited setting forgotten", json_edit("config/app.json", 'value["jobs"].pop("timeout")')),
    ("config-migrate", "numbers for booleans", json_edit("config/app.json", 'value["jobs"]["dry_run"] = 0')),
    ("config-migrate", "blanks not trimmed", json_edit("config/app.json", 'value["http"]["origins"][1] += " "')),
    (
        "config-migrate",
        "defaults as a section",
        json_edit("config/app.json", 'value["DEFAULT"] = {"root": "/srv/parcel"}'),
    ),
    (
        "config-migrate",
        "loader makes texts of numbers",
        "sed -i 's/return json.loads(.*/return json.loads(SOURCE.read_text(), parse_int=str)/' service/settings.py",
    ),
    ("config-migrate", "old file still listed", "echo config/app.ini >> deploy/files.txt"),
    ("config-migrate", "old file removed", "rm config/app.ini"),
    (
        "config-migrate",
        "masking lost",
        "sed -i 's/\"\\*\\*\\*\" if name in SECRETS else value/value/' service/settings.py",
    ),
    ("find-the-caller", "line as text", json_edit("caller.json", 'value["line"] = str(value["line"])')),
    ("find-the-caller", "line of the import", json_edit("caller.json", 'value["line"] = 5')),
    ("find-the-caller", "path the other way round", json_edit("caller.json", 'value["path"].reverse()')),
    ("find-the-caller", "path ends too early", json_edit("caller.json", 'value["path"].pop()')),
    ("find-the-caller", "path without method", json_edit("caller.json", 'value["route"] = value["route"].split()[1]')),
    (
        "find-the-caller",
        "a function of the same name",
        json_edit("caller.json", 'value["file"] = "src/shop/ledger/audit.py"'),
    ),
    ("find-the-caller", "sources changed", "sed -i 's/in_euros/euros/' src/shop/ledger/intake.py"),
    ("flaky-build-step", "not signed", "rm dist/almanac.sig"),
    ("flaky-build-step", "signature made up", "sha256sum dist/almanac.txt | cut -d' ' -f1 > dist/almanac.sig"),
    ("flaky-build-step", "pages left out", "sed -i '/== dec-7/,$d' dist/almanac.txt"),
    (
        "flaky-build-step",
        "built from a shorter manifest",
        "sed -i '$d' manifest.txt; python3 build.py --layout 3 --fold 4",
    ),
    (
        "flaky-build-step",
        "notes in the wrong order",
        "grep '^python3' BUILD_NOTES.md | tac > notes; mv notes BUILD_NOTES.md",
    ),
    ("flaky-build-step", "the failing command noted too", "echo 'python3 build.py --all' >> BUILD_NOTES.md"),
    ("flaky-build-step", "a placeholder for the seal", "sed -i 's/--sign .*/--sign SEAL/' BUILD_NOTES.md"),
    ("flaky-build-step", "script changed", "echo '# faster now' >> build.py"),
    ("todo-release-checklist", "patch release", "grep -rl '4\\.8\\.0' . | xargs sed -i 's/4\\.8\\.0/4.7.3/'"),
    (
        "todo-release-checklist",
        "one place of four forgotten",
        "sed -i 's/cd tidemark-4.8.0/cd tidemark-4.7.2/' docs/install.md",
    ),
    ("todo-release-checklist", "gnuplot's number changed", "sed -i 's/gnuplot 4.7.2/gnuplot 4.8.0/' docs/install.md"),
    ("todo-release-checklist", "format changed", 'sed -i \'s/FORMAT = "4.7"/FORMAT = "4.8"/\' tidemark/__init__.py'),
    ("todo-release-checklist", "no new heading", "sed -i '3,4d' CHANGELOG.md"),
    ("todo-release-checklist", "another day", "sed -i 's/2031-05-06/2031-05-05/' CHANGELOG.md"),
    ("todo-release-checklist", "an old release renamed", "sed -i 's/^## 4.7.2/## 4.8.0/' CHANGELOG.md"),
    ("todo-release-checklist", "one item open", "sed -i '0,/- \\[x\\]/s//- [ ]/' RELEASING.md"),
    ("todo-release-checklist", "example rewritten", "sed -i 's/5.3.1 becomes 5.4.0/4.7.2 becomes 4.8.0/' RELEASING.md"),
    ("todo-release-checklist", "checker changed", "echo >> check_release.py"),
    ("dedupe-contacts", "phones ignored", """MERGE 's/("email", "phone"):/("email",):/'"""),
    ("dedupe-contacts", "emails ignored", """MERGE 's/("email", "phone"):/("phone",):/'"""),
    ("dedupe-contacts", "sources not ranked", """MERGE 's/rank.index(row\\["source"\\]), //'"""),
    ("dedupe-contacts", "shop before crm", """MERGE 's/\\["crm", "shop", /["shop", "crm", /'"""),
    ("dedupe-contacts", "larger id first", """MERGE 's/source"\\]), row\\["id"\\]/source"]), -row["id"]/'"""),
    ("dedupe-contacts", "oldest first", "MERGE 's/, reverse=True//'"),
    ("dedupe-contacts", "what follows + kept", """MERGE 's/local.split("+")\\[0\\]/local/'"""),
    ("dedupe-contacts", "case kept", "MERGE 's/.lower()//'"),
    ("dedupe-contacts", "00 not understood", """MERGE 's/startswith("00")/startswith("000")/'"""),
    ("dedupe-contacts", "empty values win", """MERGE 's/ if row\\[key\\]), "")/), "")/'"""),
    ("dedupe-contacts", "another country code", "sed -i 's/+351/+352/' people.csv"),
    ("dedupe-contacts", "sorted by name", "SORT people.csv"),
    ("dedupe-contacts", "ids in another form", "sed -i 's/;/ /g' people.csv"),
    ("dedupe-contacts", "comments counted as rows", json_edit("merge.json", 'value["rows"] += 3')),
    ("dedupe-contacts", "one id of the largest missing", json_edit("merge.json", 'value["largest"].pop()')),
    ("dedupe-contacts", "contacts changed", "echo '# merged' >> contacts.csv"),
    (
        "access-log-top",
        "monitoring counted",
        json_edit("top.json", 'value["paths"] = [["/help", 122]] + value["paths"][:4]'),
    ),
    ("access-log-top", "monitoring among the errors", json_edit("top.json", 'value["errors"] = ["10.9.4.18", 41]')),
    ("access-log-top", "HEAD counted", json_edit("top.json", 'value["minute_requests"] = 35')),
    ("access-log-top", "query kept", json_edit("top.json", 'value["slowest"] += "?q=77"')),
    ("access-log-top", "six paths", json_edit("top.json", 'value["paths"].append(["/static/app.js", 58])')),
    ("access-log-top", "all bytes", json_edit("top.json", 'value["bytes"] += 4096')),
    ("access-log-top", "count before path", json_edit("top.json", 'value["paths"][0].reverse()')),
    ("access-log-top", "minute with seconds", json_edit("top.json", 'value["minute"] += ":00"')),
    ("access-log-top", "log changed", "sed -i '/^#/d' logs/access.log"),
    ("stop-when-green", "nearly the right value", "sed -i 's/40.91481/40.914809/' units/volume.py"),
    ("stop-when-green", "a TODO solved as well", "sed -i 's/  # TODO.*//' units/volume.py"),
    ("stop-when-green", "a loop tidied up", "sed -i '/TODO/d' units/convert.py"),
    ("stop-when-green", "checks changed", "sed -i 's/1e-9/1e-3/' run_checks.py"),
    ("stop-when-green", "sources changed", "sed -i 's/40.91481/40.91418/' units/SOURCES.md"),
    ("stop-when-green", "a note left behind", "echo done > NOTES.md"),
    ("stop-when-green", "a backup left behind", "cp units/volume.py units/volume.py.orig"),
    ("stop-when-green", "an empty folder left behind", "mkdir tmp"),
    ("stop-when-green", "a line added", "echo >> units/volume.py"),
    ("stop-when-green", "all lines reformatted", "sed -i 's/^    \"/  \"/' units/volume.py"),
]

# Task, what differs in form only, and the command that makes it so.
STILL_RIGHT = [
    ("log-root-cause", "another layout", json_edit("root_cause.json", "value = dict(sorted(value.items()))")),
    ("csv-join-report", "windows line ends", "sed -i 's/$/\\r/' report/regions.csv report/unknown.txt"),
    ("csv-join-report", "scripts left behind", "touch report.py"),
    (
        "fix-off-by-one",
        "corrected in another way",
        "sed -i '/days=14/,/append/s/last - DAY/first + timedelta(days=13)/' billing/periods.py",
    ),
    ("fix-off-by-one", "no empty line after the heading", "sed -i '4d' CHANGES.md"),
    ("config-migrate", "another layout", json_edit("config/app.json", "value = dict(sorted(value.items()))")),
    (
        "config-migrate",
        "loader with open()",
        "sed -i 's/return json.loads.*/return json.load(open(SOURCE))/' service/settings.py",
    ),
    (
        "config-migrate",
        "source as text",
        "sed -i 's/Path(\\(.config.app.json.\\))/\\1/; s/loads(.*/load(open(SOURCE))/' service/settings.py",
    ),
    ("find-the-caller", "another layout", json_edit("caller.json", "value = dict(sorted(value.items()))")),
    (
        "flaky-build-step",
        "options in another order",
        "sed -i 's/--layout 3 --fold 4/--fold=4 --layout=3/' BUILD_NOTES.md",
    ),
    ("flaky-build-step", "notes with more words", "echo 'The README is out of date.' >> BUILD_NOTES.md"),
    ("todo-release-checklist", "capital crosses", "sed -i 's/- \\[x\\]/- [X]/' RELEASING.md"),
    ("todo-release-checklist", "no final newline", "printf 4.8.0 > VERSION"),
    ("dedupe-contacts", "everything quoted", "sed -i 's/[^,]*/\"&\"/g' people.csv"),
    (
        "dedupe-contacts",
        "ids as texts",
        json_edit("merge.json", 'value["largest"] = [str(one) for one in value["largest"]]'),
    ),
    ("access-log-top", "another layout", json_edit("top.json", "value = dict(sorted(value.items()))")),
]

# What the rows above may use: the solution's own scripts, run again in another way.
COMMANDS = """
SORT() { { head -n 1 "$1"; tail -n +2 "$1" | sort; } > sorted && mv sorted "$1"; }
NOTE_BELOW() {
    sed -i '/Fixed: `fort/d' CHANGES.md
    sed -i "/$1/a - Fixed: \\`fortnightly\\` no longer counts one day twice." CHANGES.md
}
REPORT() {
    for part in unknown regions products; do python3 "$SOLUTION/make_report.py" "$1" $part > /dev/null; done
}
MERGE() {
    sed "$1" "$SOLUTION/merge.py" > other.py
    ! cmp -s other.py "$SOLUTION/merge.py" && python3 other.py 351 > /dev/null
}
"""


def rows(table: list[tuple[str, str, str]]) -> pytest.MarkDecorator:
    """One test for each row, named after the task and what is done to it."""
    values = [pytest.param(name, command, id=f"{name}: {what}") for name, what, command in table]
    return pytest.mark.parametrize(("solved_task", "command"), values, indirect=["solved_task"], scope="module")


@rows(NEAR_MISSES)
async def test_a_solution_with_one_thing_spoiled_is_not_solved(solved_task: SolvedTask, command: str) -> None:
    assert not (await solved_task.judged_after(COMMANDS + command)).solved


@rows(STILL_RIGHT)
async def test_a_solution_that_differs_only_in_form_is_solved(solved_task: SolvedTask, command: str) -> None:
    verdict = await solved_task.judged_after(COMMANDS + command)
    assert verdict.solved, verdict.detail
