"""After a task's own solution one thing is spoiled (never solved) or merely done in another way (still solved)."""

from __future__ import annotations

import pytest

from harness_eval.judging import verify
from tests.solved import SolvedTask, solved

pytestmark = pytest.mark.anyio

JSON_EDIT = (
    'python3 -c \'import json; value = json.load(open("{0}")); {1}; json.dump(value, open("{0}", "w"), indent=2)\''
)


def in_json(name: str, change: str) -> str:
    """A command that changes `value`, what a JSON file holds; the change may contain no single quote."""
    return JSON_EDIT.format(name, change)


NEAR_MISSES = [
    ("rename-symbol", "an alias is left", "echo 'net_total = amount_due' >> orders/pricing.py"),
    (
        "rename-symbol",
        "a look-alike is renamed",
        "sed -i 's/net_total_weight/amount_due_weight/g' orders/*.py selftest.py",
    ),
    ("rename-symbol", "the field is renamed", """sed -i 's/"net_total":/"amount_due":/' orders/export.py"""),
    ("rename-symbol", "a docstring keeps it", "sed -i 's/unlike amount_due/unlike net_total/' orders/pricing.py"),
    ("rename-symbol", "the glossary is changed", "sed -i 's/net_total/amount_due/' docs/glossary.md"),
    ("rename-symbol", "not exported", """sed -i '/__all__/s/"amount_due", //' orders/__init__.py"""),
    ("json-schema-fix", "typed number", 'sed -i \'s/"weight_g": 1205/"weight_g": 1250/\' catalog.json'),
    ("json-schema-fix", "still a text", 'sed -i \'s/"weight_g": 1205/"weight_g": "1205"/\' catalog.json'),
    ("json-schema-fix", "oldest row", 'sed -i \'s/"weight_g": 1205/"weight_g": 1520/\' catalog.json'),
    (
        "json-schema-fix",
        "warnings removed",
        in_json("catalog.json", '[item.pop("colour", 0) for item in value["products"]]'),
    ),
    ("json-schema-fix", "product removed", in_json("catalog.json", 'value["products"].pop(103)')),
    ("json-schema-fix", "check changed", "sed -i 's/errors += len(found)/pass/' validate.py"),
    ("git-lost-commit", "abbreviated id", "cut -c 1-12 recovered.txt > short; mv short recovered.txt"),
    ("git-lost-commit", "id of the new commit", "git -C ledger rev-parse main > recovered.txt"),
    ("git-lost-commit", "another author", "git -C ledger commit -q --amend --reset-author --no-edit"),
    ("git-lost-commit", "another subject", "git -C ledger commit -q --amend -m 'Restore the lost rounding'"),
    (
        "git-lost-commit",
        "one commit too many",
        "git -C ledger commit -q --allow-empty -m 'Round invoice totals half to even'",
    ),
    ("git-lost-commit", "something uncommitted", "echo more >> ledger/README.md"),
    ("git-lost-commit", "a file left over", "touch ledger/notes.orig"),
    ("git-lost-commit", "the drafts moved", "git -C ledger branch -q -f mara/rounding main"),
    ("git-lost-commit", "another branch checked out", "git -C ledger checkout -q -b rescue"),
    (
        "git-lost-commit",
        "whole files taken, so that the newer change is lost",
        "cd ledger; id=$(cat ../recovered.txt); git reset -q --hard HEAD~1; git checkout -q $id .; git commit -qC $id",
    ),
    (
        "git-lost-commit",
        "built on the old base",
        "cd ledger && git reset -q --hard $(cat ../recovered.txt)",
    ),
    (
        "inventory-reconcile",
        "ascending by difference",
        "sort -t , -k 4n -o report/differences.csv report/differences.csv",
    ),
    ("inventory-reconcile", "ties out of order", "sed -i '2{h;d};3{G}' report/differences.csv"),
    ("inventory-reconcile", "no header", "sed -i 1d report/differences.csv"),
    ("inventory-reconcile", "an article too few", "sed -i 3d report/only-shop.txt"),
    ("inventory-reconcile", "the shop's way of writing", "sed -i 's/.*/\\L&/; s/-0*//' report/only-shop.txt"),
    ("inventory-reconcile", "a retired one counts", "sed -i /MM-08018/d report/only-warehouse.txt"),
    ("inventory-reconcile", "numbers as texts", in_json("report/summary.json", 'value["equal"] = str(value["equal"])')),
    ("inventory-reconcile", "one more equal", in_json("report/summary.json", 'value["equal"] += 1')),
    ("inventory-reconcile", "a list changed", "sed -i '$d' stores/warehouse.csv"),
    (
        "parser-bug",
        "backslash before a quote",
        "sed -i 's/escaped = .* and not escaped$/escaped = character == \"\\\\\\\\\"/' quickconf/parser.py",
    ),
    (
        "parser-bug",
        "bare empty items kept",
        "sed -i 's/ for item in items if item\\]/ for item in items]/' quickconf/parser.py",
    ),
    (
        "parser-bug",
        "only the trailing one goes",
        "sed -i 's/for item in items if item\\]/for item in items[: None if items[-1] else -1]]/' quickconf/parser.py",
    ),
    ("parser-bug", "refuses nothing", "sed -i 's/raise ParseError(.*)/return \"\"/' quickconf/parser.py"),
    ("parser-bug", "examples removed", "sed -i '/escaped-quote/d' cases.py"),
    ("parser-bug", "grammar changed", "echo >> GRAMMAR.md"),
    ("env-precedence", "combined file", "cat env/shared.env env/region/south.env > all.env"),
    ("env-precedence", "the token written too", in_json("out/deployment.json", 'value["token"] = "quiet-otter"')),
    ("env-precedence", "receipt with its label", "sed -i 's/^/receipt /' out/receipt.txt"),
    ("env-precedence", "a value edited by hand", 'sed -i \'s/"450"/"900"/\' out/deployment.json'),
    ("env-precedence", "a file of the environment edited", "sed -i 's/5439/5432/' env/region/south.env"),
    ("env-precedence", "stage before region", "DEPLOY shared stage/live region/south machine secret limits"),
    ("env-precedence", "machine before stage", "DEPLOY shared region/south machine stage/live secret limits"),
    ("env-precedence", "without limits", "DEPLOY shared region/south stage/live machine secret"),
    ("env-precedence", "old file first", "DEPLOY old shared region/south stage/live machine limits"),
    ("env-precedence", "stage test", "DEPLOY shared region/south stage/test machine secret limits"),
    ("needle-in-config", "the limit instead of the interval", "sed -i 's/every = 95m/every = 20m/' conf.d/43-*"),
    ("needle-in-config", "in seconds", "sed -i 's/every = 95m/every = 5700s/' conf.d/43-*"),
    ("needle-in-config", "switched off", "sed -i 's/enabled = yes/enabled = no/' conf.d/43-*"),
    ("needle-in-config", "file name instead of the job's", "ls conf.d | grep 43- > culprit.txt"),
    ("needle-in-config", "a look-alike slowed down too", "sed -i 's/every = 15m/every = 95m/' conf.d/22-*"),
    ("needle-in-config", "comment lost", "sed -i '/^#/d' conf.d/43-*"),
    ("needle-in-config", "policy changed", "sed -i 's/20m/10m/' policy.md"),
    ("cron-to-json", "latest of the busiest", "echo 18:00 > busiest.txt"),
    ("cron-to-json", "hour without its zero", "echo 6:30 > busiest.txt"),
    ("cron-to-json", "either day suffices with a step", in_json("runs.json", 'value["rota-swap"] = 1')),
    ("cron-to-json", "both days needed", in_json("runs.json", 'value["payroll-draft"] = value["payroll-final"] = 0')),
    (
        "cron-to-json",
        "jobs without runs left out",
        in_json("runs.json", "[value.pop(k) for k in list(value) if not value[k]]"),
    ),
    (
        "cron-to-json",
        "Sunday as 7",
        in_json("jobs.json", '[j["weekdays"].append(7) for j in value if j["id"] == "weekend-plan"]'),
    ),
    ("cron-to-json", "by id", in_json("jobs.json", 'value.sort(key=lambda job: job["id"])')),
    ("cron-to-json", "at the first position of an id", in_json("jobs.json", "value.insert(12, value.pop())")),
    (
        "cron-to-json",
        "commands squeezed",
        in_json("jobs.json", '[j.update(command=" ".join(j["command"].split())) for j in value]'),
    ),
    ("cron-to-json", "crontab cleaned", "sed -i '/@reboot/d' jobs.cron"),
    ("service-port-conflict", "a reserved port", "sed -i 's/8109/8100/' moved.txt services/tapir.conf"),
    ("service-port-conflict", "not the lowest", "sed -i 's/8109/8112/' moved.txt services/tapir.conf"),
    ("service-port-conflict", "in the block of the old port", "sed -i 's/8109/8209/' moved.txt services/tapir.conf"),
    (
        "service-port-conflict",
        "the older one moves",
        "sed -i 's/8109/8294/' services/tapir.conf; sed -i 's/8289-8296/8286-8293/' services/quoll.conf",
    ),
    ("service-port-conflict", "another setting moves too", "sed -i 's/http = 8131/http = 8112/' services/tapir.conf"),
    ("service-port-conflict", "a setting doubled", "echo 'metrics = 8109' >> services/tapir.conf"),
    ("service-port-conflict", "another service touched", "echo >> services/quoll.conf"),
    ("service-port-conflict", "ports swapped in the note", "echo 'tapir metrics 8109 8294' > moved.txt"),
    ("service-port-conflict", "checker changed", "sed -i 's/> 1/> 2/' check_ports.py"),
    ("changelog-compile", "full stops", "sed -i '/^- /s/$/./' CHANGELOG.md"),
    ("changelog-compile", "the old name", "sed -i 's/Halden banner/Norvik banner/' CHANGELOG.md"),
    (
        "changelog-compile",
        "by number alone",
        "grep '^- ' CHANGELOG.md | sort > a; sed -i -e '3,9d' -e '2r a' CHANGELOG.md",
    ),
    (
        "changelog-compile",
        "by component",
        "grep '^- ' CHANGELOG.md | sort -k 3 > a; sed -i -e '3,9d' -e '2r a' CHANGELOG.md",
    ),
    ("changelog-compile", "an entry too few", "sed -i -e /QX-0268/d -e 's/^7/6/' CHANGELOG.md"),
    ("changelog-compile", "wrong number", "sed -i 's/^7 entries/8 entries/' CHANGELOG.md"),
    ("changelog-compile", "no empty line", "sed -i 2d CHANGELOG.md"),
    ("changelog-compile", "a list tidied", "sort -o notes/core.list notes/core.list"),
]

STILL_RIGHT = [
    ("rename-symbol", "caches left behind", "python3 selftest.py"),
    (
        "rename-symbol",
        "exports in another order",
        'sed -i \'/__all__/s/"amount_due", \\(.*\\)\\]/\\1, "amount_due"]/\' orders/__init__.py',
    ),
    ("json-schema-fix", "another layout", in_json("catalog.json", "pass")),
    (
        "git-lost-commit",
        "with a note in the body",
        "cd ledger && git reset -q --hard HEAD~1 && git cherry-pick -x $(cat ../recovered.txt)",
    ),
    ("git-lost-commit", "a rescue branch", "git -C ledger branch rescue $(cat recovered.txt)"),
    ("git-lost-commit", "no final newline", "printf %s $(cat recovered.txt) > recovered.txt"),
    ("inventory-reconcile", "quoted fields", "sed -i '2s/\\([A-Z0-9-]*\\),/\"\\1\",/' report/differences.csv"),
    ("inventory-reconcile", "another layout", in_json("report/summary.json", "pass")),
    ("parser-bug", "caches left behind", "python3 run_tests.py"),
    ("needle-in-config", "other blanks", "sed -i 's/every = 95m/every=95m/' conf.d/43-*"),
    ("needle-in-config", "no final newline", "printf delta-packages > culprit.txt"),
    (
        "cron-to-json",
        "keys in another order",
        in_json("jobs.json", "value = [dict(sorted(job.items())) for job in value]"),
    ),
    ("cron-to-json", "runs in another order", in_json("runs.json", "value = dict(sorted(value.items()))")),
    ("service-port-conflict", "no final newline", "printf 'tapir metrics 8294 8109' > moved.txt"),
    ("service-port-conflict", "other blanks", "sed -i 's/metrics = 8109/metrics=8109/' services/tapir.conf"),
    ("changelog-compile", "no final newline", 'printf %s "$(cat CHANGELOG.md)" > CHANGELOG.md'),
]

# DEPLOY NAME... deploys again under the files env/NAME.env, loaded in this order.
DEPLOY = """
DEPLOY() {
    set -a
    export ORDERS_TOKEN=none
    for name in "$@"; do . "env/$name.env"; done
    python3 bin/deploy.py apply "$(python3 bin/deploy.py plan | sed -n 's/^plan id //p')" &&
    python3 bin/deploy.py verify | sed -n 's/^verified; receipt //p' > out/receipt.txt
}
"""


def by_name(rows: list[tuple[str, str, str]]) -> pytest.MarkDecorator:
    """One test for each row, named after the task and what is done."""
    values = [pytest.param(name, change, id=f"{name}: {what}") for name, what, change in rows]
    return pytest.mark.parametrize(("solved_task", "change"), values, indirect=["solved_task"], scope="module")


@by_name(NEAR_MISSES)
async def test_a_solution_with_one_thing_spoiled_is_not_solved(solved_task: SolvedTask, change: str) -> None:
    assert not (await solved_task.judged_after(DEPLOY + change)).solved


@by_name(STILL_RIGHT)
async def test_a_solution_that_differs_only_in_form_is_solved(solved_task: SolvedTask, change: str) -> None:
    verdict = await solved_task.judged_after(DEPLOY + change)
    assert verdict.solved, verdict.detail


async def test_deploying_the_same_once_more_is_still_right() -> None:
    async with solved("env-precedence") as again:
        again.restore()
        done = await again.box.run(f"{DEPLOY}DEPLOY shared region/south stage/live machine secret limits")
        assert done.exit_code == 0, done.output
        verdict = await verify(again.task, again.box)
    assert verdict.solved, verdict.detail
