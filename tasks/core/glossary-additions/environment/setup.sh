#!/bin/bash
# Writes glossary.txt and additions/: always the same bytes.
set -euo pipefail
mkdir -p additions
python3 -I - <<'PYTHON'
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


FIRST = "anchor back bank beam berth bow cargo chart cross deep dock draught ebb fair flood fog gale guide hand harbour hull island jetty keel lee light loading mooring night outer pilot quay radar range river sand shore signal stern swell tide tow tug upper wash watch wind".split()
SECOND = "basin bell board buoy call channel current dues flag gauge head lamp line list mark master note order pass plan point rate report rule stage station table turn wake wall".split()
WHAT = "a mark|a place|a rule|a paper|a signal|the part of the port|a duty|the time|a vessel|a man or woman".split("|")
THAT = "that pilots must know|which is lit at nigth|that the harbour master recieves|where ships wait for water|given twice a day|which nobody may leave  alone|that ends at the outer wall|without which no ship may turn|kept for two yaers".split("|")


def key(term):
    return term.lower().replace("-", "").replace(" ", "")


def styled(term, n):
    return [term, term, term.capitalize(), term.replace(" ", "-"), term.title()][draw(5, "style", term, n)]


terms = sorted((f"{a} {b}" for a in FIRST for b in SECOND if draw(6, "in", a, b) == 0), key=key)
new = [term for term in terms if draw(5, "new", term) == 0 and term[0] not in "aw"]
old = [term for term in terms if term not in new]
lines, letter = [], ""
for at, term in enumerate(old):
    if term[0] != letter:
        lines += [*([""] if letter else []), f"== {term[0].upper()} =="]
        letter = term[0]
    shown = styled(term, "old")
    if draw(9, "see", term) == 0:
        line = f"{shown} -> {old[draw(len(old), 'to', term)]}"
    else:
        line = f"{shown}: {WHAT[draw(10, 'what', term)]} {THAT[draw(9, 'that', term)]}"
    lines.append(line + ["", "", "", "  ", "\r"][draw(5, "end", term)])
for at in range(2, len(lines) - 2):  # some old entries stand in the wrong order, some headings end as on other systems
    if draw(11, "swap", at) == 0 and all(lines[n].strip() and lines[n][0] != "=" for n in (at, at + 1)):
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    elif draw(3, "heading", at) == 0 and lines[at].startswith("=="):
        lines[at] += "\r"
with open("glossary.txt", "w", encoding="utf-8", newline="") as file:
    file.write("\n".join(lines))
for name in ("editors", "harbour", "legal"):
    rows = []
    for term in [*new, *(term for term in old if draw(12, "again", term, name) == 0)]:
        chance = draw(10, name, term)
        if chance < 5 or (name == "legal" and term in new and chance < 8):
            text = f"{WHAT[draw(10, name, term, 1)]} {THAT[draw(9, name, term, 2)]} ({name})"
            rows.append((styled(term, name), text, "draft" if draw(4, "draft", name, term) == 0 else "approved"))
    rows.sort(key=lambda row: draw(10**6, "order", name, row[0]))
    with open(f"additions/{name}.tsv", "w", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in rows)
PYTHON
