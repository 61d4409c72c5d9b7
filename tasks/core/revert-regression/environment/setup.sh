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
    """A stream for git fast-import: each commit changes lines, which have names, of the files."""
    stream, lines = [], dict(facts["start"])
    for mark, (subject, person, changes) in enumerate(facts["commits"], 1):
        lines |= changes
        who = f"{person} <{person.split()[0].lower()}@office.example> {facts['epoch'] + mark * 41231} +0000"
        stream.append(f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}")
        stream.append(f"data {len(subject) + 1}\n{subject}\n")
        if mark > 1:
            stream.append(f"from :{mark - 1}")
        for path in facts["files"]:
            text = "".join(line + "\n" for name, line in lines.items() if name.startswith(path + "#"))
            stream.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}")
        if mark == facts["tagged"]:
            stream.append(f"reset refs/tags/v1.0\nfrom :{mark}\n")
    return {"stream.txt": "\n".join(stream) + "\n"}


FACTS = {
    'start': {'.gitignore#cache': '__pycache__/', 'NOTES.md#head': '# Notes on courier', 'NOTES.md#0': '', 'NOTES.md#1': '', 'NOTES.md#2': '', 'NOTES.md#3': '', 'NOTES.md#4': '', 'NOTES.md#5': '', 'NOTES.md#6': '', 'NOTES.md#7': '', 'NOTES.md#8': '', 'NOTES.md#9': '', 'NOTES.md#10': '', 'NOTES.md#11': '', 'NOTES.md#12': '', 'NOTES.md#13': '', 'NOTES.md#14': '', 'NOTES.md#15': '', 'NOTES.md#16': '', 'NOTES.md#17': '', 'NOTES.md#18': '', 'NOTES.md#19': '', 'NOTES.md#20': '', 'NOTES.md#21': '', 'NOTES.md#22': '', 'NOTES.md#23': '', 'NOTES.md#24': '', 'NOTES.md#25': '', 'NOTES.md#26': '', 'NOTES.md#27': '', 'NOTES.md#28': '', 'NOTES.md#29': '', 'NOTES.md#30': '', 'NOTES.md#31': '', 'NOTES.md#32': '', 'NOTES.md#33': '', 'NOTES.md#34': '', 'NOTES.md#35': '', 'NOTES.md#36': '', 'NOTES.md#37': '', 'NOTES.md#38': '', 'NOTES.md#39': '', 'docs/rules.md#head': '# Rules', 'courier.py#head': '"""What courier costs, in cents."""', 'courier.py#gap': '', 'courier.py#audit': 'AUDIT = []', 'courier.py#north': 'NORTH = 392', 'courier.py#south': 'SOUTH = 878', 'courier.py#east': 'EAST = 640', 'courier.py#west': 'WEST = 476', 'courier.py#toll.-2': '', 'courier.py#toll.-1': '', 'courier.py#toll.0': 'def toll(axles):', 'courier.py#toll.1': '    """Cents for the bridge."""', 'courier.py#toll.2': '    pairs = (axles + 1) // 2', 'courier.py#toll.3': '    base = 110 if pairs > 1 else 360', 'courier.py#toll.4': '    return base + pairs * 32', 'docs/rules.md#toll.gap': '', 'docs/rules.md#toll': '- toll: cents for the bridge, as the office has fixed it.', 'courier.py#rebate.-2': '', 'courier.py#rebate.-1': '', 'courier.py#rebate.0': 'def rebate(count):', 'courier.py#rebate.1': '    """Percent off for many pieces."""', 'courier.py#rebate.2': '    steps = count // 15', 'courier.py#rebate.3': '    steps = min(steps, 28)', 'courier.py#rebate.4': '    return steps * 2', 'docs/rules.md#rebate.gap': '', 'docs/rules.md#rebate': '- rebate: percent off for many pieces, as the office has fixed it.', 'courier.py#surcharge.-2': '', 'courier.py#surcharge.-1': '', 'courier.py#surcharge.0': 'def surcharge(grams):', 'courier.py#surcharge.1': '    """Cents on top for heavy pieces."""', 'courier.py#surcharge.2': '    over = max(0, grams - 1700)', 'courier.py#surcharge.3': '    parts = -(-over // 390)', 'courier.py#surcharge.4': '    return parts * 33', 'docs/rules.md#surcharge.gap': '', 'docs/rules.md#surcharge': '- surcharge: cents on top for heavy pieces, as the office has fixed it.', 'courier.py#points.-2': '', 'courier.py#points.-1': '', 'courier.py#points.0': 'def points(cents):', 'courier.py#points.1': '    """Points for a purchase."""', 'courier.py#points.2': '    whole = cents // 100', 'courier.py#points.3': '    extra = whole // 18 * 35', 'courier.py#points.4': '    return whole + extra', 'docs/rules.md#points.gap': '', 'docs/rules.md#points': '- points: points for a purchase, as the office has fixed it.'},
    'commits': [['Begin', 'Goran Ilic', {}], ['State the rule for rebate in other words', 'Dana Weiss', {'docs/rules.md#rebate': '- rebate: percent off for many pieces, see the rules (0).'}], ['State the rule for toll in other words', 'Femi Ade', {'docs/rules.md#toll': '- toll: cents for the bridge, checked by hand (1).'}], ['Note what was said about rebate', 'Aino Berg', {'NOTES.md#2': '- the office knows: rebate came up again on day 21.'}], ['Align rebate with its description', 'Goran Ilic', {'docs/rules.md#rebate': '- rebate: percent off for many pieces, see the rules (3).'}], ['New price for the south', 'Dana Weiss', {'courier.py#south': 'SOUTH = 273'}], ['New price for the north', 'Goran Ilic', {'courier.py#north': 'NORTH = 786'}], ['Begin an audit', 'Aino Berg', {'courier.py#audit': 'AUDIT = [('}], ['Read rebate again, and note it', 'Femi Ade', {'docs/rules.md#rebate': '- rebate: percent off for many pieces, reviewed in spring (7).'}], ['End the audit', 'Hana Sato', {'courier.py#audit': 'AUDIT = []'}], ['Align surcharge with its description', 'Goran Ilic', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, see the rules (9)."""'}], ['New price for the north', 'Dana Weiss', {'courier.py#north': 'NORTH = 258'}], ['New price for the south', 'Bela Novak', {'courier.py#south': 'SOUTH = 386'}], ['New price for the north', 'Hana Sato', {'courier.py#north': 'NORTH = 335'}], ['New price for the west', 'Chidi Obi', {'courier.py#west': 'WEST = 545'}], ['Read toll again, and note it', 'Bela Novak', {'courier.py#toll.1': '    """Cents for the bridge, see the rules (14)."""'}], ['Tidy surcharge', 'Bela Novak', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, as in the contract (15)."""'}], ['State the rule for rebate in other words', 'Chidi Obi', {'courier.py#rebate.1': '    """Percent off for many pieces, reviewed in spring (16)."""'}], ['Read surcharge again, and note it', 'Chidi Obi', {'courier.py#surcharge.3': '    parts = over // 390', 'docs/rules.md#surcharge': '- surcharge: cents on top for heavy pieces, put more simply.'}], ['New price for the west', 'Dana Weiss', {'courier.py#west': 'WEST = 301'}], ['Say who agreed to surcharge', 'Elif Kaya', {'courier.py#surcharge.4': '    return parts * 33  # the office knows'}], ['Note what was said about points', 'Femi Ade', {'NOTES.md#18': '- reviewed in spring: points came up again on day 156.'}], ['State the rule for rebate in other words', 'Femi Ade', {'docs/rules.md#rebate': '- rebate: percent off for many pieces, reviewed in spring (19).'}], ['State the rule for points in other words', 'Elif Kaya', {'docs/rules.md#points': '- points: points for a purchase, the office knows (20).'}], ['Align rebate with its description', 'Elif Kaya', {'docs/rules.md#rebate': '- rebate: percent off for many pieces, the office knows (21).'}], ['New price for the east', 'Aino Berg', {'courier.py#east': 'EAST = 664'}], ['Align points with its description', 'Goran Ilic', {'courier.py#points.1': '    """Points for a purchase, the office knows (23)."""'}], ['Tidy rebate', 'Chidi Obi', {'courier.py#rebate.1': '    """Percent off for many pieces, see the rules (24)."""'}], ['New price for the west', 'Femi Ade', {'courier.py#west': 'WEST = 868'}], ['Tidy toll', 'Hana Sato', {'docs/rules.md#toll': '- toll: cents for the bridge, checked by hand (26).'}], ['Align points with its description', 'Elif Kaya', {'courier.py#points.1': '    """Points for a purchase, see the rules (27)."""'}], ['New price for the east', 'Elif Kaya', {'courier.py#east': 'EAST = 252'}], ['Tidy points', 'Dana Weiss', {'docs/rules.md#points': '- points: points for a purchase, the office knows (29).'}], ['New price for the north', 'Bela Novak', {'courier.py#north': 'NORTH = 700'}], ['Note what was said about points', 'Chidi Obi', {'NOTES.md#31': '- reviewed in spring: points came up again on day 247.'}], ['Read surcharge again, and note it', 'Femi Ade', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, reviewed in spring (32)."""'}], ['Note what was said about rebate', 'Bela Novak', {'NOTES.md#33': '- agreed with sales: rebate came up again on day 90.'}], ['Read points again, and note it', 'Femi Ade', {'courier.py#points.1': '    """Points for a purchase, reviewed in spring (34)."""'}]],
    'tagged': 4,
    'files': ['.gitignore', 'NOTES.md', 'docs/rules.md', 'courier.py'],
    'epoch': 1984358336,
}
for name, text in lay_out(FACTS).items():
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text.encode())
PYTHON
git init -q -b main courier
cd courier
git config user.name "Price Desk"
git config user.email desk@office.example
git config gc.auto 0
git config commit.gpgsign false
git fast-import --quiet < ../stream.txt
rm ../stream.txt
git reset -q --hard main
