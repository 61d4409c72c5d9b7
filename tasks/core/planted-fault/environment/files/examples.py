"""Tries the examples, one line each, and says how many of them failed."""

import json
from pathlib import Path

from harbor import figures

wrong = 0
for number, line in enumerate(Path("examples.json").read_text(encoding="utf-8").splitlines(), 1):
    name, arguments, wanted = json.loads(line)
    try:
        found = getattr(figures, name)(*arguments)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    wrong += found != wanted
    shown = ", ".join(json.dumps(argument) for argument in arguments)
    print(f"{number:3} {'ok    ' if found == wanted else 'FAILED'} {name}({shown}) is {json.dumps(found)}")
    if found != wanted:
        print(f"           where {json.dumps(wanted)} is right")
print(f"{number} examples, {wrong} failed")
