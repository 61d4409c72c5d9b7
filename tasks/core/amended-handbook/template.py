"""A long handbook whose amendments stand scattered in it; some repeal others, some are not yet in force.

Drawn: the house, its terms and values, chapters and sections, the amendments with their days, which repeal which, where
the lines stand in the middle of the text, and the day for which the answer is wanted.
"""

from datetime import date, timedelta
from hashlib import sha256

from harness_eval.draws import Draws, draw
from harness_eval.templates import expected_text, plan_text, setup_text, shared

SHARED = ("task.toml", "environment/Dockerfile", "tests/test.sh", "tests/check.py")
HOUSES = ["the Observatory", "the Print Works", "the Harbour Office", "the Seed Bank", "the Map Room", "the Tram Depot"]
TERMS = {
    "late fee": "marks",
    "notice period": "days",
    "deposit": "marks",
    "loan period": "days",
    "visitor limit": "persons",
    "quiet time": "minutes",
    "key allowance": "keys",
    "travel rate": "pence a mile",
    "trial period": "weeks",
    "storage limit": "boxes",
    "meal grant": "marks",
    "reply time": "hours",
}
HEADS = "access boats cellars complaints doors fees fire gifts heating keys lamps letters loans meals noise yard"
PROSE = (
    """members/guests/the clerks on duty/holders of a key/new members/night porters/groups of more than six
    /tenants of the yard/members of the board/all departments""",
    "must/may/may not/shall/are asked to/are free to/will as a rule",
    """enter the reading room/leave crates in the passage/hand in the blue form/use the goods lift/lock the side gate
    /put their names into the day book/bring food into the hall/move the large tables/switch off the lamps
    /call the porter/carry papers out of the house/change the order of the shelves""",
    """before the bell is rung/after the front desk has closed/when the board is in session/without asking twice
    /if the weather allows it/during the summer months/as long as somebody watches the door/when the yard is open
    /unless the porter objects/in the week of the stocktaking""",
)
INSTRUCTION = """# What does the handbook say on {day}?

`handbook.md` is the handbook of {house}, about {size} characters long. A section states the value of a term in a
sentence such as

    The late fee is 12 marks.

Amendments stand wherever the next free space was, in no order. Each is one line of one of two kinds:

    > Amendment 7, in force from 2031-05-02: the late fee is 15 marks.
    > Amendment 9, in force from 2031-08-20: Amendment 7 is repealed.

An amendment **counts** on a day if it is in force by then (from that day on) and no amendment that counts on that day
repeals it. So a repeal that is itself repealed has no effect, and what it had repealed counts again. The value of a
term on a day is that of the amendment with the highest number that counts and names the term (the number decides, not
the day); if there is none, the value in its section.

Write `terms.json` for **{day}**: one object with exactly these keys:

{terms}

Each is an object with `value` (a number) and `by` (the number of the amendment that decides, or `null` if it is the
section).

Leave `handbook.md` as it is.
"""


def lay_out(facts: dict) -> dict[str, str]:
    """The handbook: prose by hash, with the lines of `facts` in their places."""
    def pick(size: int, *place: object) -> int:
        return int(draw(facts["seed"], *place) * size)

    def sentence(*place: object) -> str:
        chosen = [each[pick(len(each), *place, at)] for at, each in enumerate(facts["prose"])]
        return " ".join(chosen)[:1].upper() + " ".join(chosen)[1:] + "."

    def head(*place: object) -> str:
        chosen = [facts["heads"][pick(len(facts["heads"]), *place, at)] for at in range(2)]
        return f"{chosen[0].capitalize()} and {chosen[1]}"

    text, number = [f"# Handbook of {facts['house']}\n"], 0
    for chapter in range(1, facts["chapters"] + 1):
        text.append(f"## {chapter} {head(chapter)}\n")
        for section in range(1, 4 + pick(3, chapter, "sections")):
            text.append(f"### {chapter}.{section} {head(chapter, section)}\n")
            for paragraph in range(2 + pick(2, chapter, section, "paragraphs")):
                place = (chapter, section, paragraph)
                sentences = [sentence(*place, at) for at in range(3 + pick(3, *place))]
                for line in facts["lines"].get(str(number), []):
                    if line.startswith("> "):
                        text.append(line + "\n")
                    else:
                        sentences.insert(1, line)
                text.append(" ".join(sentences) + "\n")
                number += 1
    return {"handbook.md": "\n".join(text)}


def counting(amendments: list[dict], today: str) -> set[int]:
    """The numbers of the amendments that count; a repeal names a smaller number than its own."""
    counts: set[int] = set()
    for amendment in sorted(amendments, key=lambda each: -each["number"]):
        repealed = any(other["repeals"] == amendment["number"] for other in amendments if other["number"] in counts)
        if amendment["from"] <= today and not repealed:
            counts.add(amendment["number"])
    return counts


def drawn_amendments(draws: Draws, terms: dict[str, int], start: date) -> list[dict]:
    """Amendments of all terms, and repeals of these and of each other."""
    amendments: list[dict] = []
    numbers = sorted(draws.sample(range(2, 70), draws.integer(28, 34)))
    for number in numbers:
        when = (start + timedelta(days=draws.integer(0, 900))).isoformat()
        before = [each["number"] for each in amendments if each["number"] not in {e["repeals"] for e in amendments}]
        if len(before) > 5 and draws.integer(1, 5) <= 2:
            amendments.append({"number": number, "from": when, "repeals": draws.choice(before[-7:]), "term": ""})
            continue
        term = draws.choice(sorted(terms))
        taken = {terms[term], *(each.get("value") for each in amendments)}
        value = draws.choice([n for n in range(3, 99) if n not in taken])
        amendments.append({"number": number, "from": when, "repeals": 0, "term": term, "value": value})
    return amendments


def instance(draws: Draws) -> dict[str, str]:
    """Amendments such that some of those asked for are decided by a repeal."""
    house, start = draws.choice(HOUSES), date(draws.integer(2028, 2034), draws.integer(1, 12), draws.integer(1, 28))
    today = (start + timedelta(days=draws.integer(600, 800))).isoformat()
    terms = {term: draws.integer(3, 98) for term in draws.sample(sorted(TERMS), 8)}
    amendments = drawn_amendments(draws, terms, start)
    counts = counting(amendments, today)
    answer = {}
    for term, value in terms.items():
        deciding = [each for each in amendments if each["term"] == term and each["number"] in counts]
        last = max(deciding, key=lambda each: each["number"], default={"value": value, "number": None})
        answer[term] = {"value": last["value"], "by": last["number"]}
    asked = sorted(draws.sample(sorted(answer), draws.integer(4, 6)))
    lines = {term: f"The {term} is {value} {TERMS[term]}." for term, value in terms.items()}
    for each in amendments:
        says = f"the {each['term']} is {each.get('value')} {TERMS.get(each['term'])}"
        says = f"Amendment {each['repeals']} is repealed" if each["repeals"] else says
        lines[str(each["number"])] = f"> Amendment {each['number']}, in force from {each['from']}: {says}."
    places: dict[str, list[str]] = {}
    for line in draws.shuffled(lines.values()):
        places.setdefault(str(draws.integer(20, 70)), []).append(line)
    prose = [[" ".join(each.split()) for each in part.split("/")] for part in PROSE]
    facts = {"seed": draws.integer(0, 10**9), "house": house, "chapters": 12, "lines": places}
    facts |= {"prose": prose, "heads": HEADS.split()}
    handbook = lay_out(facts)["handbook.md"]
    expected = {"answer": {term: answer[term] for term in asked}, "handbook": sha256(handbook.encode()).hexdigest()}
    terms_asked = "\n".join(f"- `{term}`" for term in asked)
    return shared(__file__, *SHARED) | {
        "instruction.md": INSTRUCTION.format(
            day=today, house=house, size=f"{round(len(handbook), -3):,}", terms=terms_asked
        ),
        "environment/setup.sh": setup_text(lay_out, facts),
        "tests/expected.json": expected_text(expected),
        "solution/solve.sh": SOLUTION.replace("@TODAY@", today).replace("@TERMS@", repr(asked)),
        "solution/plan.yaml": plan_text(
            f"terms.json says what holds on {today}.", plan_steps(asked, answer, amendments, today)
        ),
    }


def plan_steps(asked: list[str], answer: dict, amendments: list[dict], today: str) -> list[dict]:
    """The handbook, the repeals, each term by itself where its deciding line is learned, and the answer."""
    dates = r", in force from [-0-9]+: "
    learn, narrow = {}, []
    for at, term in enumerate(asked):
        number = answer[term]["by"]
        head = rf"> Amendment {number}{dates}the " if number else "The "
        learn[f"value{at}"] = rf"{head}{term} is (\d+) "
        narrow.append(f"> Amendment {number}, .*" if number else f"The {term} is [0-9]+ [a-z]+")
    repeals = [each for each in amendments if each["repeals"]]
    first = next(each for each in repeals if each["from"] <= today)
    by = {term: answer[term]["by"] or "null" for term in asked}
    rows = ",\n".join(f'  "{term}": {{"value": ${{value{at}}}, "by": {by[term]}}}' for at, term in enumerate(asked))
    return [
        {
            "say": "I read the handbook.",
            "run": "cat handbook.md",
            "learn": {"repealed": rf"^> Amendment {first['number']}{dates}Amendment (\d+) is repealed"},
            "otherwise": f"grep '^> Amendment {first['number']}, ' handbook.md",
            "goal": "read",
        },
        {
            "say": "Amendment ${repealed} is repealed; I list all repeals, by their numbers.",
            "run": "grep -o 'Amendment [0-9]*, .* is repealed' handbook.md | sort -k 2 -n",
            "goal": "repeals",
        },
        {
            "say": "Now the lines that name the terms.",
            "run": f"grep -nE 'The ({'|'.join(asked)}) is|the ({'|'.join(asked)}) is' handbook.md | cut -c 1-600",
            "learn": learn,
            "otherwise": f"grep -oE '{'|'.join(narrow)}' handbook.md",
            "goal": "terms",
        },
        {
            "say": "I write the answer.",
            "create": {"path": "terms.json", "text": "{\n" + rows + "\n}\n"},
            "goal": "answer",
        },
        {"say": "I check that it is valid JSON.", "run": "python3 -m json.tool terms.json", "goal": "answer"},
    ]


SOLUTION = """#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
import json
import re
from pathlib import Path

TODAY, TERMS = "@TODAY@", @TERMS@
text = Path("handbook.md").read_text(encoding="utf-8")
found = re.findall(r"^> Amendment (\\d+), in force from (\\S+): (.*)$", text, re.M)
rows = [(int(number), day, rest) for number, day, rest in found]
repealed, values = set(), {}
for number, day, rest in sorted(rows, reverse=True):
    if day > TODAY or number in repealed:
        continue
    if found := re.match(r"Amendment (\\d+) is repealed", rest):
        repealed.add(int(found[1]))
    else:
        term, value = re.match(r"the (.*) is (\\d+) ", rest).groups()
        values.setdefault(term, {"value": int(value), "by": number})
for term in TERMS:
    base = int(re.search(rf"The {term} is (\\d+) ", text)[1])
    values.setdefault(term, {"value": base, "by": None})
answer = {term: values[term] for term in TERMS}
Path("terms.json").write_text(json.dumps(answer, indent=2) + "\\n", encoding="utf-8")
PYTHON
"""
