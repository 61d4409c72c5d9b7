#!/bin/bash
# Writes manifest.tsv, parts/ and spares/: always the same bytes.
set -euo pipefail
mkdir -p parts spares/attic spares/cellar spares/press
python3 -I - <<'PYTHON'
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


WHO = "The mayor|Councillor Finch|Councillor Abara|The clerk|Councillor Oduya|The treasurer|Councillor Pell".split("|")
DID = "moved that|asked whether|noted that|denied that|reported that|doubted that|was told that".split("|")
WHAT = "the north bridge|the ice house|the market hall|the new pump|the old mill|the school roof|the town band".split("|")
REST = "be painted before winter|had cost too much|would open in May|was let to a baker|needed two more keys|stood empty".split("|")


def text(n, edition=""):
    """A part: some sentences, cut anywhere."""
    said = ""
    for at in range(4 + draw(4, "length", n)):
        choice = [words[draw(len(words), edition, n, at, words[0])] for words in (WHO, DID, WHAT, REST)]
        said += " ".join(choice) + ("." if draw(3, n, at) else ".\n")
    return said[draw(20, "cut", n):].encode()


TOTAL = 260
numbers = sorted(range(100, 1000), key=lambda n: draw(10**9, "name", n))[:TOTAL]
names = [f"m-{n:04d}" for n in numbers]
with open("manifest.tsv", "w", encoding="utf-8") as file:
    for n, name in enumerate(names):
        data = text(n)
        file.write(f"{name}\t{len(data)}\t{hashlib.sha256(data).hexdigest()}\n")
        if n == 118:  # two letters changed places: the length is right
            data = data.replace(b"th", b"ht", 1)
        if n == 141:  # lost its end
            data = data[:-37]
        with open(f"parts/{name}", "wb") as part:
            part.write(data)
copies = [(n, "good") for n in range(TOTAL) if draw(20, "spare", n) == 0 and n not in (118, 141)]
copies += [(118, "flipped"), (118, "older"), (118, "good"), (141, "short"), (141, "older"), (141, "good"), (141, "longer")]
copies.sort(key=lambda copy: draw(10**9, "shelf", *copy))
for at, (n, kind) in enumerate(copies):
    data = text(n, "older" if kind == "older" else "")
    data = {"flipped": data.replace(b"or", b"ro", 1), "short": data[:-12], "longer": data + b"\n"}.get(kind, data)
    shelf = ("attic", "cellar", "press")[at % 3]
    with open(f"spares/{shelf}/{at // 3 + 1:02d}.bin", "wb") as file:
        file.write(data)
PYTHON
