"""A week of shifts to be planned under rules that are stated once; every plan that keeps them all is right.

Drawn: the people, what each shift needs, who holds a licence, who is away when, who must not work together, how many
shifts each may and must have. All of it is drawn around a plan that works, and the solution has to find one in time.
"""

import io
import json

from harness_eval.draws import Draws
from harness_eval.templates import expected_text, plan_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py")
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
SHIFTS = ["early", "late", "night"]
PEOPLE = """Ada Bo Cleo Dov Ebba Finn Gia Hugo Ines Jan Kaia Lev Mina Nils Olga Per Rana Sven Tove Ulf Vera Wim Yara
Zeno"""
PLACES = ["the ferry", "the dairy", "the call desk", "the pump house", "the bakery", "the animal clinic", "the lock"]
LIMIT = 4000  # steps of the solution's search, less than a second
INSTRUCTION = """# A week at {place}

Plan the shifts of one week, from `mon` to `sun`. Each day has the shifts `early` ({early} persons), `late` ({late}) and
`night` ({night}); exactly so many work in each.

- `staff.csv` has the columns `name,licence,least,most`: whether the person holds the licence (`yes` or `no`), and how
  many shifts the person must have at least and may have at most in this week.
- `away.csv` has the columns `name,day`: on that day the person works no shift at all.
- `apart.csv` has the columns `first,second`: these two never work in the same shift.

Besides,

- nobody works more than one shift a day,
- in every shift at least one person holds the licence,
- who works a night has no early shift on the next day,
- nobody works more than {nights} nights in the week, nor on more than {streak} days in a row.

Write `plan.csv` with the first line `day,shift,name` and one line for each person in each shift, in any order, with the
days and shifts as they are written above. Any plan that keeps all rules is right. Then write `totals.json`: one object
that gives for every name in `staff.csv` the number of shifts that the person has in your plan (0 where there is none).

Leave the three given files as they are.
"""
SOLVER = '''import csv
import itertools

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
NEED, NIGHTS, STREAK = @RULES@
staff = {row["name"]: row for row in csv.DictReader(open("staff.csv"))}
away = {(row["name"], row["day"]) for row in csv.DictReader(open("away.csv"))}
apart = {frozenset(row.values()) for row in csv.DictReader(open("apart.csv"))}
slots = [(day, shift) for day in range(7) for shift in NEED]
work = {name: {} for name in staff}  # name: {day: shift}


def free(name, day, shift):
    has = work[name]
    return not (
        (name, DAYS[day]) in away
        or day in has
        or len(has) >= int(staff[name]["most"])
        or (shift == "early" and has.get(day - 1) == "night")
        or (shift == "night" and sum(s == "night" for s in has.values()) >= NIGHTS)
        or all(day - back in has for back in range(1, STREAK + 1))
    )


def owes(name, day):
    left = sum((name, DAYS[d]) not in away and d not in work[name] for d in range(day, 7))
    missing = int(staff[name]["least"]) - len(work[name])
    return missing - left


def fits(team):
    pairs = map(frozenset, itertools.combinations(team, 2))
    return any(staff[name]["licence"] == "yes" for name in team) and not any(pair in apart for pair in pairs)


steps = 0


def fill(at):
    global steps
    steps += 1
    if steps > @LIMIT@:
        return False
    if at == len(slots):
        return all(owes(name, 7) <= 0 for name in staff)
    day, shift = slots[at]
    if shift == "early" and any(owes(name, day) > 0 for name in staff):
        return False
    able = [name for name in staff if free(name, day, shift)]
    rest = {name: sum((name, DAYS[d]) not in away for d in range(day, 7)) for name in able}
    able.sort(key=lambda name: (rest[name] - int(staff[name]["most"]) + len(work[name]), staff[name]["licence"], name))
    for team in itertools.combinations(able, NEED[shift]):
        if fits(team):
            for name in team:
                work[name][day] = shift
            if fill(at + 1):
                return True
            for name in team:
                del work[name][day]
    return False


solved = fill(0)
'''
WRITER = """assert solved, "no plan found"
with open("plan.csv", "w") as file:
    print("day,shift,name", file=file)
    for name, has in work.items():
        for day, shift in has.items():
            print(f"{DAYS[day]},{shift},{name}", file=file)
"""


def draft(draws: Draws, names: list[str], need: dict[str, int]) -> dict[str, dict[int, str]]:
    """A plan in which nobody works twice a day, or early after a night; who has worked least comes first."""
    work: dict[str, dict[int, str]] = {name: {} for name in names}
    for day in range(7):
        for shift in SHIFTS:
            able = [name for name in names if day not in work[name]]
            if shift == "early":
                able = [name for name in able if work[name].get(day - 1) != "night"]
            order = sorted(draws.shuffled(able), key=lambda name: len(work[name]) + draws.integer(0, 2))
            for name in order[: need[shift]]:
                work[name][day] = shift
    return work


def together(work: dict[str, dict[int, str]]) -> dict[tuple[int, str], list[str]]:
    """Who works in each shift."""
    teams: dict[tuple[int, str], list[str]] = {}
    for name, has in work.items():
        for day, shift in has.items():
            teams.setdefault((day, shift), []).append(name)
    return teams


def longest(days: dict[int, str]) -> int:
    """The most days in a row."""
    return max((n for n in range(1, 8) for day in range(7) if all(day + k in days for k in range(n))), default=0)


def week(draws: Draws) -> dict:
    """People and rules around a plan that keeps them."""
    names = draws.sample(PEOPLE.split(), draws.integer(8, 10))
    need = {"early": draws.integer(2, 3), "late": 2, "night": draws.integer(1, 2)}
    work = draft(draws, names, need)
    teams, licensed = together(work), set(names)
    for name in draws.shuffled(names):
        if all(licensed & set(team) - {name} for team in teams.values()):
            licensed.remove(name)
    pairs = [(one, two) for at, one in enumerate(names) for two in names[at + 1 :]]
    strangers = [pair for pair in pairs if not any(set(pair) <= set(team) for team in teams.values())]
    away = []
    for name in names:
        off = [day for day in range(7) if day not in work[name]]
        away += [(name, DAYS[day]) for day in sorted(draws.sample(off, min(len(off), draws.integer(1, 3))))]
    staff = {
        name: {
            "licence": "yes" if name in licensed else "no",
            "least": max(0, len(work[name]) - draws.integer(0, 2)),
            "most": len(work[name]) + draws.integer(0, 1),
        }
        for name in names
    }
    return {
        "need": need,
        "staff": staff,
        "away": away,
        "apart": draws.sample(strangers, min(len(strangers), draws.integer(3, 5))),
        "nights": max(list(has.values()).count("night") for has in work.values()),
        "streak": max(map(longest, work.values())),
    }


def tables(found: dict) -> dict[str, str]:
    """The three given files."""
    rows = [f"{name},{person['licence']},{person['least']},{person['most']}" for name, person in found["staff"].items()]
    return {
        "staff.csv": "\n".join(["name,licence,least,most", *rows]) + "\n",
        "away.csv": "\n".join(["name,day", *map(",".join, found["away"])]) + "\n",
        "apart.csv": "\n".join(["first,second", *map(",".join, found["apart"])]) + "\n",
    }


def solver_for(found: dict) -> str:
    """The search with the rules of this week."""
    rules = repr((found["need"], found["nights"], found["streak"]))
    return SOLVER.replace("@RULES@", rules).replace("@LIMIT@", str(LIMIT))


def solvable(found: dict) -> bool:
    """Whether the solution finds a plan within its steps."""
    files = tables(found)
    space: dict = {"open": lambda name: io.StringIO(files[name])}
    exec(solver_for(found), space)  # noqa: S102 - the template's own search
    return bool(space["solved"])


def instance(draws: Draws) -> dict[str, str]:
    """A week that the solution's search can plan."""
    while not solvable(found := week(draws)):
        pass
    files, need, place = tables(found), found["need"], draws.choice(PLACES)
    rules = {key: found[key] for key in ("need", "staff", "away", "apart", "nights", "streak")}
    solver = solver_for(found)
    total = 'import json\nprint(json.dumps({name: len(has) for name, has in work.items()}))\n'
    return (
        shared(__file__, *SHARED)
        | {f"environment/files/{name}": text for name, text in files.items()}
        | {
            "instruction.md": INSTRUCTION.format(
                place=place, nights=found["nights"], streak=found["streak"], **need
            ),
            "tests/expected.json": expected_text({"rules": rules, "given": files}),
            "solution/solve.sh": f"#!/bin/bash\nset -euo pipefail\npython3 -I - > totals.json <<'PYTHON'\n"
            f"{solver}{WRITER}{total}PYTHON\n",
            "solution/plan.yaml": plan_text(
                "plan.csv keeps all rules, and totals.json counts the shifts.",
                plan_steps(list(found["staff"]), solver),
            ),
        }
    )


def plan_steps(names: list[str], solver: str) -> list[dict]:
    """The given files, a search, its plan, and the totals counted in what was written."""
    count = "tail -n +2 plan.csv | cut -d, -f3 | sort | uniq -c"
    learn = {name.lower(): rf"^ *(\d+) {name}$" for name in names}
    text = json.dumps(dict.fromkeys(names, 0), indent=2)
    for name in names:
        text = text.replace(f'"{name}": 0', f'"{name}": ${{{name.lower()}}}')
    return [
        {"say": "I read what is given.", "run": "cat staff.csv away.csv apart.csv", "goal": "read"},
        {"say": "I write a search.", "create": {"path": "search.py", "text": solver + WRITER}, "goal": "plan"},
        {"say": "I run it.", "run": "python3 search.py && sort plan.csv", "goal": "plan"},
        {"say": "I count the shifts.", "run": count, "learn": learn, "goal": "totals"},
        {"say": "I write the totals.", "create": {"path": "totals.json", "text": text + "\n"}, "goal": "totals"},
        {"say": "I check them.", "run": "python3 -m json.tool totals.json; wc -l plan.csv", "goal": "totals"},
    ]
