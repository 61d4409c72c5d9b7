"""Are exactly the unused functions gone, are they listed, and do the reports say the same?"""

import hashlib
import os
from pathlib import Path

from solver import answers, copied
from workspace import content, digest_of

GIVEN = {
    "DESIGN.md": "d30bd21c4dad8cf7b42968bfb152bb8de31825b917e59f2f2703055ad1d9b838",
    "conf/daily.conf": "bb3ae5f860f9d21b405d7c53839551b9a302cc5f78c429989e1ac5cf52dbc19d",
    "conf/flood.conf": "a9ca92a494c75c751a42176d4341f90df2e10a8f47eae100e7e8c9051d1d1c93",
    "conf/weekly.conf": "70cf04ac4f1d1e2ba59250500422dd04a809259f8799744a87feba2ba6923aba",
    "data/flows.tab": "8bdd28bc447577f0a88ae4e590ed66ebb437d441fb53cdfb1828093f04b49c4e",
    "data/levels.csv": "1fa05092c20d77456fa3280f127c2b467eb3a5e8aea3fd423f957a1136256a61",
    "data/old.json": "37517e5f3dc66819f61f5a7bb8ace1921282415f10551d2defa5c3eb0985b570",
    "run.py": "ce931cd8b27b984bfdb7f97b8b3b36f9e048b0688b40bc9dc5c95cc3981141ea",
    "templates/alarm.txt": "1399957bac1a0e1a0838c096137739b40e286e846040dd0ce723071848c1a2ee",
    "templates/archive.txt": "f459b664d2c44d136ce1eb0156fe97504b08821bd4f2692e02018366850b537a",
    "templates/daily.txt": "abeb3a611e3e47f0cdea1359a21e04396d46a58e47eba13bdae15acb28a89c55",
    "templates/foot.txt": "493315426d39558f1ebe4416c9e0ef44362c3fe367f2ab00cbbdf7015f286e25",
    "templates/head.txt": "d318db89d0a61f2394ec48851f9eaa828509a61b6e560bef737d2df1e5905cc5",
    "weir/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
}
MODULES = {
    "weir/dates.py": "5c93e396d6a577c1675157dd9f0be85f929e0359612d6af4b9a734733ab2453f",
    "weir/exporters.py": "e3c94e0fa7cac7bb46761f232358b0fd5a82268198b6255154d7155fdbb08e43",
    "weir/filters.py": "7cf47c7d88ad6133380bd14e89fa6e9d64894031c0f35f545021aeffe553632b",
    "weir/hooks.py": "912475f7376da14d7b456f61b378791a7cc9fdd29a5887a72cc0ad400dcb77e6",
    "weir/layout.py": "7f121b83a7a216f14899626249af7f38a4145c76826c7d1f1814662f24c51aba",
    "weir/numbers.py": "6b049c0f1d43cf838bd22fa83276e9b3cf4be1e8d212e936f358da4fd946b585",
    "weir/settings.py": "409f4792242f13361101f151b57a1e3a3fd24fbbec235e3d59ac593a908d30f3",
    "weir/source.py": "f167d3d096cd066459e97cf229784cb28c8972ec9d8c05ea75506e1a6f5a26ab",
    "weir/steps.py": "92477ed8ae034f2ce3b246f54b6ba32c493b333c8128087944bdc249341b35cf",
    "weir/templates.py": "c58579a5d5e0477af5b48c839a6295a53c5daf0b5401a2a9fd58889fcb766b84",
    "weir/words.py": "fcc806b9b21bc26f48fd7e129727afb2ad4acb5863a6aace9d6afde2f727ffc2",
}  # digests of the lines that stay
REMOVED = [
    "weir/dates.py:month",
    "weir/dates.py:before",
    "weir/dates.py:after",
    "weir/exporters.py:write_xml",
    "weir/exporters.py:write_table",
    "weir/filters.py:filter_shout",
    "weir/filters.py:filter_roman",
    "weir/filters.py:filter_ago",
    "weir/hooks.py:mail",
    "weir/hooks.py:count_rows",
    "weir/layout.py:element",
    "weir/layout.py:escaped",
    "weir/layout.py:centred",
    "weir/numbers.py:median",
    "weir/numbers.py:clipped",
    "weir/numbers.py:factorial",
    "weir/settings.py:as_flag",
    "weir/settings.py:with_defaults",
    "weir/source.py:read_json",
    "weir/source.py:upgraded",
    "weir/steps.py:step_cap",
    "weir/steps.py:step_smooth",
    "weir/steps.py:step_by_month",
    "weir/templates.py:without_marks",
    "weir/words.py:roman",
    "weir/words.py:plural",
]
PRINTED = "878b1c9723f797ae9e5b43c1502c2b27c01211199cbbb79d8d66929c95d0b5b5"
PROBE = """
import json, subprocess, sys
results = []
for words in json.load(sys.stdin):
    done = subprocess.run([sys.executable, "-EsB", "run.py", *words], capture_output=True, text=True, timeout=10)
    results.append(done.stdout)
print(json.dumps(results))
"""


def code(text: str) -> str:
    """The lines that count: those that are not empty and import nothing."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith(("import ", "from ")))


def rest_digest(name: str) -> str:
    """The digest of a module's lines."""
    return hashlib.sha256(code(content(name).decode("utf-8", "replace")).encode()).hexdigest()


def broken() -> list[str]:
    """What was to stay and did not, or is there and should not be."""
    wrong = [name for name, digest in GIVEN.items() if digest_of(name) != digest]
    known = {*GIVEN, *MODULES, "removed.txt"}
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        wrong += [path for path in (Path(folder, name).as_posix() for name in files) if path not in known]
    return sorted(wrong)


def score() -> float:
    """Four fifths for the modules that are right, one for the list; half of it where anything else has changed."""
    told = broken()
    right = [name for name, digest in MODULES.items() if rest_digest(name) == digest]
    lines = [line.strip() for line in content("removed.txt").decode("utf-8", "replace").splitlines() if line.strip()]
    listed = sorted(lines) == sorted(REMOVED)
    printed = answers(PROBE, [["all"], ["check"], ["list"]], copied([*GIVEN, *MODULES]))
    same = isinstance(printed, list) and hashlib.sha256("".join(map(str, printed)).encode()).hexdigest() == PRINTED
    wrong = sorted(set(MODULES) - set(right))
    print(f"modules not right: {wrong}; list right: {listed}; reports the same: {same}; broken: {told[:20]!a}")
    return (0.8 * len(right) / len(MODULES) + 0.2 * listed) * (1.0 if same and not told else 0.5)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
