#!/bin/bash
# Writes deploy/ and revoked.tsv: always the same bytes.
set -euo pipefail
mkdir -p deploy/{live,night,trial,lab,archive}
python3 -I - <<'PYTHON'
import base64
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789"


def key(kind, *parts):
    return f"hbk_{kind}_" + "".join(LETTERS[draw(len(LETTERS), "key", *parts, at)] for at in range(24))


def mark(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


KEYS = [key("test" if n % 4 == 3 else "live", n) for n in range(34)]
REVOKED = {3: ["*"], 8: ["live", "night"], 13: ["*", "lab"], 18: ["trial"], 20: ["*", "live"], 27: ["night", "*"], 31: ["live"]}
rows = [(mark(KEYS[n]), stage, key("live", "new", n, stage)) for n, stages in REVOKED.items() for stage in stages]
rows += [(mark(key("live", "gone", n)), "*", key("live", "unused", n)) for n in range(6)]
rows.sort(key=lambda row: draw(10**9, "order", *row))
with open("revoked.tsv", "w", encoding="utf-8") as file:
    file.writelines("\t".join(row) + "\n" for row in rows)

NAMES = "access_key upstream_key barrier_token signing_key meter_token relay_key camera_key".split()
PLAIN = ["lanes = {n}", "timeout = {n}", "host = gate-{n}.toll.example", "retries = {n}", "colour = amber", "grace_seconds = {n}"]
FORMS = {"ini": ("{} = {}", "; "), "env": ("{}={}", "# "), "yaml": ('{}: "{}"', "# "), "conf": ("{} https://toll:{}@relay.example/in;", "# ")}
SORTS = ("gate", "meter", "relay", "camera")
for stage in ("live", "night", "trial", "lab", "archive"):
    for n in range(15):
        ending = list(FORMS)[draw(4, "ending", stage, n)]
        form, comment = FORMS[ending]
        lines = [f"{comment}{stage}, machine {n + 1}"]
        for at in range(14 + draw(9, "lines", stage, n)):
            where = (stage, n, at)
            if draw(5, "key here", *where):
                text = PLAIN[draw(6, "plain", *where)].format(n=draw(90, "number", *where))
                name, _, value = text.partition(" = ")
                lines.append(form.format(name, value) if ending != "conf" else f"{name} {value};")
                continue
            name = f"{NAMES[draw(7, 'name', *where)]}_{at}"
            value = KEYS[draw(34, "which", *where)]
            if draw(6, "never", *where) == 0:
                lines.append(f"{comment}rotate: never (contract with the {SORTS[n % 4]} maker)")
            elif draw(9, "far", *where) == 0:
                lines += [f"{comment}rotate: never", f"{comment}was said of a key that is gone"]
            if ending != "conf" and draw(4, "hidden", *where) == 0:
                name, value = f"{name}_b64", base64.b64encode(value.encode()).decode()
            lines.append(form.format(name, value) + ("  " if draw(7, "blanks", *where) == 0 else ""))
        end = "\r\n" if draw(5, "end", stage, n) == 0 else "\n"
        with open(f"deploy/{stage}/{SORTS[n % 4]}-{n + 1:02d}.{ending}", "w", encoding="utf-8", newline="") as file:
            file.write(end.join(lines) + (end if n % 3 else ""))
PYTHON
