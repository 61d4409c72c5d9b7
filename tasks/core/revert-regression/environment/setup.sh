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
    'commits': [['Begin', 'Elif Kaya', {}], ['Align points with its description', 'Dana Weiss', {'docs/rules.md#points': '- points: points for a purchase, see the rules (0).'}], ['Align points with its description', 'Femi Ade', {'docs/rules.md#points': '- points: points for a purchase, the office knows (1).'}], ['Read surcharge again, and note it', 'Aino Berg', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, see the rules (2)."""'}], ['Note what was said about rebate', 'Goran Ilic', {'NOTES.md#3': '- see the rules: rebate came up again on day 270.'}], ['New price for the east', 'Aino Berg', {'courier.py#east': 'EAST = 838'}], ['State the rule for points in other words', 'Bela Novak', {'courier.py#points.1': '    """Points for a purchase, checked by hand (5)."""'}], ['Begin an audit', 'Bela Novak', {'courier.py#audit': 'AUDIT = [('}], ['Note what was said about surcharge', 'Chidi Obi', {'NOTES.md#7': '- as in the contract: surcharge came up again on day 277.'}], ['End the audit', 'Hana Sato', {'courier.py#audit': 'AUDIT = []'}], ['New price for the south', 'Elif Kaya', {'courier.py#south': 'SOUTH = 363'}], ['Read surcharge again, and note it', 'Aino Berg', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, checked by hand (10)."""'}], ['New price for the west', 'Aino Berg', {'courier.py#west': 'WEST = 781'}], ['Tidy toll', 'Aino Berg', {'courier.py#toll.1': '    """Cents for the bridge, checked by hand (12)."""'}], ['Tidy rebate', 'Goran Ilic', {'courier.py#rebate.1': '    """Percent off for many pieces, the office knows (13)."""'}], ['State the rule for surcharge in other words', 'Goran Ilic', {'courier.py#surcharge.3': '    parts = over // 390', 'docs/rules.md#surcharge': '- surcharge: cents on top for heavy pieces, put more simply.'}], ['Note what was said about rebate', 'Goran Ilic', {'NOTES.md#14': '- agreed with sales: rebate came up again on day 300.'}], ['Read rebate again, and note it', 'Elif Kaya', {'courier.py#rebate.1': '    """Percent off for many pieces, as in the contract (15)."""'}], ['Say who agreed to surcharge', 'Aino Berg', {'courier.py#surcharge.4': '    return parts * 33  # see the rules'}], ['State the rule for surcharge in other words', 'Goran Ilic', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, the office knows (16)."""'}], ['Read points again, and note it', 'Goran Ilic', {'courier.py#points.1': '    """Points for a purchase, the office knows (17)."""'}], ['Note what was said about toll', 'Goran Ilic', {'NOTES.md#18': '- reviewed in spring: toll came up again on day 29.'}], ['Note what was said about rebate', 'Femi Ade', {'NOTES.md#19': '- agreed with sales: rebate came up again on day 253.'}], ['Align surcharge with its description', 'Chidi Obi', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, see the rules (20)."""'}], ['Note what was said about surcharge', 'Goran Ilic', {'NOTES.md#21': '- reviewed in spring: surcharge came up again on day 271.'}], ['New price for the north', 'Elif Kaya', {'courier.py#north': 'NORTH = 271'}], ['Tidy points', 'Aino Berg', {'courier.py#points.1': '    """Points for a purchase, see the rules (23)."""'}], ['New price for the south', 'Bela Novak', {'courier.py#south': 'SOUTH = 768'}], ['Tidy surcharge', 'Femi Ade', {'courier.py#surcharge.1': '    """Cents on top for heavy pieces, checked by hand (25)."""'}], ['Note what was said about toll', 'Femi Ade', {'NOTES.md#26': '- agreed with sales: toll came up again on day 155.'}], ['New price for the south', 'Goran Ilic', {'courier.py#south': 'SOUTH = 727'}], ['New price for the north', 'Bela Novak', {'courier.py#north': 'NORTH = 266'}], ['Tidy toll', 'Bela Novak', {'courier.py#toll.1': '    """Cents for the bridge, agreed with sales (29)."""'}]],
    'tagged': 3,
    'files': ['.gitignore', 'NOTES.md', 'docs/rules.md', 'courier.py'],
    'epoch': 1972717747,
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
