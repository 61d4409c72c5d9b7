#!/bin/bash
# Writes codebook/: always the same bytes, ten pages of about five thousand characters.
set -euo pipefail
mkdir -p codebook
python3 -I - <<'PYTHON'
import hashlib
import textwrap


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


THEMES = {
    "Opening hours": "closes too early on weekdays|closes too early on Saturdays|opens too late in the morning|is shut on Sundays|hours differ from those on the door|was closed without notice|hours are fine as they are|too few people about late in the evening",
    "Noise": "telephones in the rooms|talk at the desk|children on the stairs|the ventilation hums|building works outside|music from headphones|the quiet room is welcome|too quiet to ask anything",
    "Warmth": "cold in the rooms|hot in the rooms|draught at the doors|radiators cannot be turned|windows cannot be opened|coats must be handed in|the warmth is welcome|the heating smells",
    "The catalogue": "shown as present but missing|no search by subject|spelling must be exact|the terminals are slow|reservations get lost|translations are not marked|easy to use|cannot be used from home",
    "Loans": "loan time too short|too few renewals|fines too high|reminders come late|the return box jams|too few films at once|fines are fair|a lost card costs too much",
    "Computers": "printer without paper|no print in colour|waiting for a computer|session ends without warning|no help with forms|network fails|prints cost too much|the scanner is good",
    "Rooms": "too few desks at the windows|no sockets|chairs too hard|lift out of order|toilets locked|lockers too small|nowhere to eat|light too weak",
    "Books and papers": "newspapers torn or missing|too few books in other languages|too many crime novels|school books out of date|large print wanted|new books come late|sheet music wanted|local history is good",
    "Events": "evenings are full|games evening wanted|story hour at the wrong time|posters out of date|too loud on evenings|courses cost too much|authors' evenings are good|no events in the holidays",
}
SAYS = [
    "Use it where the person says so in any words, also as a joke, as a question or by telling what happened.",
    "In the last survey it was given to {n} answers, most of them from {who}.",
    "It was brought in {n} years ago on the wish of {who}, and has been kept since although it is rarely needed.",
    "It is not to be mixed up with code {m}, which coders of the first surveys used for something else.",
    "Where the person only guesses what others think, it is used all the same, since we do not judge how people know.",
    "It does not matter whether the person is angry or pleased, nor whether the matter has been mended since.",
    "Answers of one word are enough if the word leaves no doubt; a drawing beside the answer is not looked at.",
    "In doubt, ask how {who} would read the answer, and do not read more into it than is there.",
    "It counts once even where the person says the same thing {n} times over.",
    "Coders {m} and {n} disagreed on it most often; the board then decided for the plain sense of the words.",
]
WHO = "students|pensioners|parents|the evening staff|the board|pupils|people who work nearby|the friends of the library".split("|")
free = sorted(range(110, 990), key=lambda n: draw(10**9, "code", n))
codes = {}
for page, (theme, matters) in enumerate(THEMES.items(), 1):
    items = sorted(matters.split("|"), key=lambda matter: draw(10**9, "order", matter))
    paragraphs = []
    for item in items:
        codes[item] = free.pop()
        said = [SAYS[n] for n in sorted(range(10), key=lambda n: draw(10**9, "says", item, n))[:5]]
        text = " ".join(said).format(n=2 + draw(50, "n", item), m=free[draw(300, "m", item)], who=WHO[draw(8, "who", item)])
        paragraphs.append(f"Code {codes[item]}, {item}.\n" + textwrap.fill(text, 110))
    which = "last" if page in (1, 4, 5, 8) else "first"
    weight = 11 + draw(80, "weight", theme)
    rule = (
        "Of two matters. "
        f"Where an answer names two matters of this theme, the one that is named {which} decides and the other one is forgotten. "
        "An answer that names three or more has not come in yet. "
        f"Weight. An answer of this theme weighs {weight} points in the report of the year; a letter would weigh {weight + 3}, a call {weight + 5}."
    )
    paragraphs.insert(4, textwrap.fill(rule, 110))
    head = f"Theme {page}: {theme}\n\n" + textwrap.fill(
        "This page is one of ten. Codes of other themes are never given to an answer of this one. Coders work alone, and"
        " two of them see every answer; where they differ, the third one reads this page aloud.", 110)
    with open(f"codebook/page-{page:02d}.txt", "w", encoding="utf-8") as file:
        file.write("\n\n".join([head, *paragraphs]) + "\n")

maps, hours, music = free.pop(), free.pop(), free.pop()
AMENDED = {
    "Amendment 1, to Warmth": f"Answers of the theme Warmth that name a time of day, however they name it, get code {hours}, whether it was too cold or too hot. Code {hours} belongs to the theme Warmth.",
    "Amendment 2, to The catalogue": f"Code {codes['shown as present but missing']} is split. Where the work that was missing is a map or a book of maps, the answer gets code {maps}; the old code stays for all other works. Code {maps} belongs to the theme The catalogue.",
    "Amendment 3, to Loans": "The weight on the page of Loans was a mistake of the printer: its two digits changed places. Read it the other way round, such as 19 for 91.",
    "Amendment 4, to Noise": f"Code {codes['music from headphones']} is renamed to {music}, since the old number was already in use in the archive. Nothing else changes on that page.",
    "Amendment 5, to Opening hours": "On the page of Opening hours, the rule on two matters stands as it is printed, although some coders asked for the opposite.",
}
texts = []
for n, (name, text) in enumerate(AMENDED.items()):
    said = " ".join(SAYS[at] for at in sorted(range(10), key=lambda at: draw(10**9, name, at))[:7])
    reason = said.format(n=2 + draw(50, "n", name), m=free[draw(300, "m", name)], who=WHO[draw(8, "who", name)])
    texts.append(f"{name}.\n{textwrap.fill(text, 110)}\n" + textwrap.fill("What is said elsewhere of codes holds for this one: " + reason, 110))
with open("codebook/page-10.txt", "w", encoding="utf-8") as file:
    file.write("Amendments\n\n" + "\n\n".join(texts) + "\n")
PYTHON
