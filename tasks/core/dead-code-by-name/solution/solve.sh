#!/bin/bash
set -euo pipefail
cat > removed.txt <<'LIST'
weir/dates.py:month
weir/dates.py:before
weir/dates.py:after
weir/exporters.py:write_xml
weir/exporters.py:write_table
weir/filters.py:filter_shout
weir/filters.py:filter_roman
weir/filters.py:filter_ago
weir/hooks.py:mail
weir/hooks.py:count_rows
weir/layout.py:element
weir/layout.py:escaped
weir/layout.py:centred
weir/numbers.py:median
weir/numbers.py:clipped
weir/numbers.py:factorial
weir/settings.py:as_flag
weir/settings.py:with_defaults
weir/source.py:read_json
weir/source.py:upgraded
weir/steps.py:step_cap
weir/steps.py:step_smooth
weir/steps.py:step_by_month
weir/templates.py:without_marks
weir/words.py:roman
weir/words.py:plural
LIST
python3 -I - <<'PYTHON'
import ast
from pathlib import Path

listed = Path("removed.txt").read_text(encoding="utf-8").split()
for path in Path("weir").glob("*.py"):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(True)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and f"{path.as_posix()}:{node.name}" in listed:
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
    if "".join(lines) != text:
        path.write_text("".join(lines), encoding="utf-8")
PYTHON
python3 -B run.py all
