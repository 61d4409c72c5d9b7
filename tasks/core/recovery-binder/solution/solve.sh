#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import re
import subprocess

# What a reader finds in each sheet: the phrase of the next one.
PHRASES = ["lamplighter", "bramble", "teal-86", "october-sandvik", "kestrel"]
PHRASES += [phrase[::-1] for phrase in ("tannery", "31-barrel", "ottilie", "bramble-teal", "varnholm")]
settings = {}
for number, phrase in enumerate(PHRASES, 1):
    command = ["python3", "binder.py", "open", str(number), phrase]
    sheet = " ".join(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    sheet = re.sub(r"The neighbours at Otter Weir [^=]* = \w+", "", sheet)
    for section, name, value in re.findall(r"\b([a-z]+)\.([a-z_]+) = ([A-Za-z0-9,:-]+)", sheet):
        settings.setdefault(section, {})[name] = value
    for section, name in re.findall(r"The setting ([a-z]+)\.([a-z_]+) is withdrawn", sheet):
        del settings[section][name]
settings["seal"] = {"word": "".join(phrase[0] for phrase in PHRASES)}
with open("recovered.ini", "w") as file:
    for section, values in settings.items():
        file.write(f"[{section}]\n" + "".join(f"{name} = {value}\n" for name, value in values.items()) + "\n")
PYTHON
