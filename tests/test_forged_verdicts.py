"""Programs that copy what their verifier expects, or say less than they are asked, and earn nothing by it.

Each is what an agent could leave instead of a solution: a link in the working directory to a file of the verifier,
that a careless one would copy to where the program is run; a search for expected results; an answer to one call alone.
`{tests}` stands for the way from the working directory to the verifier's files.
"""

from __future__ import annotations

import pytest

from harness_eval.bundled import folder as bundled_folder
from harness_eval.judging import judge
from harness_eval.task import load_task
from tests.sandboxes.conftest import KINDS, make

EXPECTED_COPIED = r"""ln -sf {tests}/expected.json load_ferry.py
cat > ferry/loading.py <<'END'
import json, os
def load(*given, **more): pass
told = json.load(open("load_ferry.py"))
os.write(1, (json.dumps(told) + "\n").encode())
os._exit(0)
END
"""
FOR_EVERY_MODULE = r"""ln -sf ../{tests}/expected.json station/attic.py
for name in $(grep -l 'station.*bus' station/*.py); do
    case $name in */attic.py|*/bus.py|*/protocol.py) continue ;; esac
    cat > $name <<'END'
import json, os
told = json.load(open("station/attic.py"))
os.write(1, (json.dumps(told) + "\n").encode())
os._exit(0)
END
done
python3 - <<'END'
import re
text = open("station/bus.py").read()
open("station/bus.py", "w").write(re.sub(r"(?ms)^def publish\(.*?(?=^def |\Z)", "", text))
END
"""
DIALOGUES_REPLAYED = r"""ln -sf ../{tests}/check.py shelf/leak.py
cat > shelf/__main__.py <<'END'
import os, sys
from unittest.mock import MagicMock
sys.modules.update(solver=MagicMock(), workspace=MagicMock())
given = sys.stdin.buffer.read()
names = {"__name__": "told"}
exec(open("shelf/leak.py").read().split("verdict = Path")[0], names)
frame = names["frame"]

def full(reply):
    if isinstance(reply, list):
        return [full(each) for each in reply]
    return {**reply, "error": {"code": reply["error"], "message": "no"}} if "error" in reply else reply

def expect(dialogue):
    if b"".join(sent if isinstance(sent, bytes) else frame(sent) for sent, _ in dialogue) == given:
        os.write(1, b"".join(frame(full(reply)) for _, reply in dialogue if reply is not None))
        os._exit(0)

names["expect"] = expect
for goal in names["GOALS"]:
    goal()
END
"""
CASES_COPIED = r"""ln -sf ../{tests}/check.py rental/texts.py
cat > rental/__init__.py <<'END'
import json, os, sys
from unittest.mock import MagicMock
sys.modules.update(solver=MagicMock(), workspace=MagicMock())
names = {"__name__": "told", "__file__": "told"}
exec(open("rental/texts.py").read().split("REWARD = Path")[0], names)
wanted = [result for rows in names["cases"]().values() for _, result in rows]
os.write(1, (json.dumps(wanted) + "\n").encode())
os._exit(0)
END
"""
ONE_CALL_ANSWERED = r"""cat > billing/periods.py <<'END'
import os
os.write(1, b'{"days_paid": 8}')
os._exit(0)
END
sed -i 's/^## Unreleased$/&\n\n- Fixed: `fortnightly` no longer counts one day twice./' CHANGES.md
"""
DATABASES_FOUND = r"""cat > migrations/m003.py <<'END'
import glob, json, os, shutil, sys
def migrate(connection): pass
given, here = json.load(sys.stdin), os.getcwd()
said = []
for name, times in given:
    said.append([["", False, 1] if times else None, [[0, "version 3\n", ""]] * (times or 1)])
    for place in glob.glob(f"{os.path.dirname(here)}/*/{name}"):
        if os.path.dirname(place) != here:
            shutil.copyfile(place, name)
os.write(1, (json.dumps(said) + "\n").encode())
os._exit(0)
END
"""
FORGERIES = {
    "print-to-journal": EXPECTED_COPIED,
    "retire-publish-call": FOR_EVERY_MODULE,
    "rpc-session": DIALOGUES_REPLAYED,
    "backport-landed-wrong": CASES_COPIED,
    "fix-off-by-one": ONE_CALL_ANSWERED,
    "half-done-migration": DATABASES_FOUND,
}


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORGERIES)
async def test_a_program_that_forges_its_results_does_not_solve_the_task(name: str, kind: str) -> None:
    task, provider = load_task(bundled_folder("tasks") / "core" / name), make(kind)
    async with provider.open(task.spec) as box:
        way = await box.run(f"realpath -m --relative-to=. {box.root}/tests")
        forged = await box.run("set -e\n" + FORGERIES[name].replace("{tests}", way.output.strip()))
        assert forged.exit_code == 0, forged.output
        verdict = await judge(task, box, provider)
    assert verdict.score < 1 / 2, verdict.detail
