#!/usr/bin/env bash
set -eu
python3 - <<'PYTHON'
from pathlib import Path

path = Path("quickconf/parser.py")
text = path.read_text(encoding="utf-8")
replacements = [
    ("    quoted = False\n    for at", "    quoted = escaped = False\n    for at"),
    ("if character == '\"':\n            quoted", "if character == '\"' and not escaped:\n            quoted"),
    ("return line[:at]\n", "return line[:at]\n        escaped = character == \"\\\\\" and not escaped\n"),
    ("items = [unquote(item, number) for item in split_items(text[1:-1])]", "items = split_items(text[1:-1])"),
    ("return [item for item in items if item]", "return [unquote(item, number) for item in items if item]"),
]
for old, new in replacements:
    assert text.count(old) == 1, old
    text = text.replace(old, new)
path.write_text(text, encoding="utf-8")
PYTHON
python3 -B run_tests.py | tail -n 1
