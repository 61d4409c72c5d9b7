#!/bin/bash
# Lays out this instance: always the same bytes.
set -euo pipefail
python3 -I - <<'PYTHON'
import hashlib
from pathlib import Path


def draw(*parts: object) -> float:
    """A number in 0..1 that depends on the parts alone."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


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


FACTS = {
    'seed': 426466224,
    'house': 'the Map Room',
    'chapters': 12,
    'lines': {'56': ['> Amendment 3, in force from 2031-09-14: the loan period is 12 days.', '> Amendment 50, in force from 2030-07-28: the notice period is 21 days.'], '65': ['> Amendment 10, in force from 2029-11-14: the loan period is 69 days.', 'The visitor limit is 22 persons.'], '49': ['The travel rate is 71 pence a mile.', '> Amendment 41, in force from 2029-08-06: the key allowance is 54 keys.'], '21': ['> Amendment 27, in force from 2030-06-27: Amendment 15 is repealed.'], '64': ['> Amendment 38, in force from 2029-08-07: Amendment 32 is repealed.'], '58': ['> Amendment 67, in force from 2030-04-13: the visitor limit is 23 persons.', 'The trial period is 92 weeks.'], '29': ['> Amendment 21, in force from 2029-08-07: the deposit is 83 marks.'], '26': ['> Amendment 7, in force from 2031-06-29: the key allowance is 29 keys.'], '51': ['> Amendment 14, in force from 2031-06-08: Amendment 5 is repealed.', '> Amendment 26, in force from 2031-08-18: the trial period is 49 weeks.'], '42': ['> Amendment 23, in force from 2029-09-23: Amendment 13 is repealed.'], '52': ['The key allowance is 63 keys.', '> Amendment 4, in force from 2031-08-29: the travel rate is 17 pence a mile.'], '57': ['The loan period is 85 days.', '> Amendment 43, in force from 2030-05-27: Amendment 41 is repealed.', '> Amendment 32, in force from 2031-02-03: Amendment 23 is repealed.'], '32': ['The notice period is 45 days.'], '38': ['> Amendment 13, in force from 2031-06-29: Amendment 10 is repealed.'], '46': ['> Amendment 56, in force from 2029-07-16: the trial period is 78 weeks.'], '67': ['> Amendment 6, in force from 2030-06-15: the travel rate is 62 pence a mile.', '> Amendment 12, in force from 2030-09-10: the trial period is 66 weeks.', '> Amendment 68, in force from 2029-12-07: Amendment 50 is repealed.', '> Amendment 55, in force from 2030-10-05: Amendment 36 is repealed.'], '50': ['> Amendment 45, in force from 2031-06-21: Amendment 34 is repealed.', '> Amendment 15, in force from 2030-12-25: the visitor limit is 42 persons.'], '37': ['> Amendment 31, in force from 2030-05-09: Amendment 12 is repealed.'], '55': ['The deposit is 48 marks.'], '27': ['The storage limit is 76 boxes.'], '34': ['> Amendment 34, in force from 2030-10-21: Amendment 25 is repealed.'], '36': ['> Amendment 53, in force from 2029-11-08: Amendment 31 is repealed.'], '60': ['> Amendment 42, in force from 2031-06-01: the loan period is 67 days.'], '40': ['> Amendment 36, in force from 2029-05-13: the loan period is 19 days.'], '63': ['> Amendment 5, in force from 2029-10-26: the loan period is 24 days.'], '66': ['> Amendment 25, in force from 2029-07-24: the storage limit is 13 boxes.']},
    'prose': [['members', 'guests', 'the clerks on duty', 'holders of a key', 'new members', 'night porters', 'groups of more than six', 'tenants of the yard', 'members of the board', 'all departments'], ['must', 'may', 'may not', 'shall', 'are asked to', 'are free to', 'will as a rule'], ['enter the reading room', 'leave crates in the passage', 'hand in the blue form', 'use the goods lift', 'lock the side gate', 'put their names into the day book', 'bring food into the hall', 'move the large tables', 'switch off the lamps', 'call the porter', 'carry papers out of the house', 'change the order of the shelves'], ['before the bell is rung', 'after the front desk has closed', 'when the board is in session', 'without asking twice', 'if the weather allows it', 'during the summer months', 'as long as somebody watches the door', 'when the yard is open', 'unless the porter objects', 'in the week of the stocktaking']],
    'heads': ['access', 'boats', 'cellars', 'complaints', 'doors', 'fees', 'fire', 'gifts', 'heating', 'keys', 'lamps', 'letters', 'loans', 'meals', 'noise', 'yard'],
}
for name, text in lay_out(FACTS).items():
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text.encode())
PYTHON
