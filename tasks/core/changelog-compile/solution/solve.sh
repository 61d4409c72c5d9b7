#!/usr/bin/env bash
set -eu
python3 - <<'PYTHON'
from pathlib import Path

entries = []
for path in Path("notes").glob("*.list"):
    for line in path.read_text(encoding="utf-8").splitlines():
        number, _, release, audience, state, kind, text = line.split(" | ")
        if (release, audience, state) == ("4.2", "public", "merged"):
            text = text.removesuffix(".").replace("Norvik", "Halden")
            entries.append((kind != "security", f"- {number} {path.stem}: {text}"))
lines = [line for _, line in sorted(entries)]
text = "\n".join(["# Release 4.2", "", *lines, "", f"{len(lines)} entries"])
Path("CHANGELOG.md").write_text(text + "\n", encoding="utf-8")
PYTHON
cat CHANGELOG.md
