#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import configparser
import json
import re
from pathlib import Path

parser = configparser.ConfigParser()
parser.read("config/app.ini")


def value(section, name, text):
    if name in ("password", "token", "secret"):
        return "env:" + f"{section}_{name}".upper()
    if re.fullmatch(r"\d+", text):
        return int(text)
    if text in ("yes", "on", "no", "off"):
        return text in ("yes", "on")
    return [part.strip() for part in text.split(",")] if "," in text else text


new = {s: {n: value(s, n, t) for n, t in parser[s].items()} for s in parser.sections()}
Path("config/app.json").write_text(json.dumps(new, indent=2) + "\n")


def replace(path, *pairs):
    text = Path(path).read_text()
    for old, replacement in pairs:
        text = text.replace(old, replacement)
    Path(path).write_text(text)


loader = """    parser = configparser.ConfigParser()
    parser.read(SOURCE, encoding="utf-8")
    return {name: dict(parser[name]) for name in parser.sections()}
"""
replace(
    "service/settings.py",
    ("import configparser", "import json"),
    ("app.ini", "app.json"),
    (loader, '    return json.loads(SOURCE.read_text(encoding="utf-8"))\n'),
)
replace("service/show.py", ("app.ini", "app.json"))
replace("deploy/files.txt", ("app.ini", "app.json"))
PYTHON
python3 -m service.show
