"""Was the site published under the right umask, and has everything in the archive its prescribed mode?"""

import hashlib
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

from workspace import digest_of

GIVEN = {
    "LAYOUT.md": "9d9719394afb2ebc82c2427c63511947aa40dbd88afa94cf28434f1e7effe31f",
    "bin/publish.py": "01b8e44c7ec0af3c62147729974f9f5d62f3d405a2fb9003359480f2e5bd5bd1",
    "bin/settings.sh": "8781f0db6a5e8bf9dfb6040b4bc7c356ffe0f5ae0977b06b4b5c95f16b67fb0f",
    "pages/ferry.txt": "f33ac0ef7bf5bbfcb55395e7d072b77feb0e01b248c947c17182316e5cc95156",
    "pages/guides/caves.txt": "5aede857abcb074c5910be8e4bd022813f83d051215d82fb4180defd4fb489ff",
    "pages/guides/fishing.txt": "4230508d5b262bb35d0f825ff4e72d0fdc421441fbb19f42e2cf61922534a71d",
    "pages/index.txt": "dcca62adf75110e720b6851b9f703e38c7b0003b57b7f6de7dc5fdfd36e7730e",
}
SITE = {
    "site/ferry.html": "905a7b6f853e8f034f73816224ae237ae08a09eda9c8404456a991c8b5f545cc",
    "site/guides/caves.html": "69bf67d8dd0ddaddb9640810e5837358b6528abc9c17a7c0512f0d1176ddffae",
    "site/guides/fishing.html": "ac9aa80873c9652fbb433fcf570c0903dbfa63ff1623502e332c4ffdedeac58f",
    "site/index.html": "d616ff672878225eccab3eb98d0ca1bb7ab35df50eb26e9088788c6508e7503d",
}
FOLDERS = {"site": 0o750, "site/guides": 0o750}
ARCHIVE = {
    ".": 0o750,
    "index.csv": 0o640,
    "2029": 0o750,
    "2029/minutes.txt": 0o640,
    "2029/convert.sh": 0o750,
    "2029/budget.csv": 0o640,
    "2029/tools": 0o750,
    "2029/tools/thumbnails": 0o750,
    "2029/tools/thumbnails.conf": 0o640,
    "2029/tools/notes.txt": 0o640,
    "2030": 0o750,
    "2030/private": 0o700,
    "2030/private/letters.txt": 0o600,
    "2030/private/decrypt": 0o700,
    "2030/private/keys": 0o700,
    "2030/private/keys/ring.txt": 0o600,
    "2030/minutes.txt": 0o750,
    "2030/private-notes": 0o750,
    "2030/private-notes/list.txt": 0o640,
    "2030/photo list.txt": 0o640,
    "2030/empty": 0o750,
}
CONTENTS = "9a0d543dc815bd61e61848e776d51927d5d3ecd518439284682251cda16d4398"


def mode(name: str) -> int:
    """The permissions of a file or a folder, with the special bits."""
    return stat.S_IMODE(os.lstat(name).st_mode)


def published() -> None:
    """The site: its files, their content and everybody's permissions."""
    found = {path.as_posix() for path in Path("site").rglob("*") if not path.is_dir()}
    assert found == set(SITE), f"found {sorted(found)[:9]}"
    for name, wanted in SITE.items():
        assert digest_of(name) == wanted, f"{name} is not what the program writes"
        assert mode(name) == 0o640, f"{name} has the mode {mode(name):o}"
    for name, wanted in FOLDERS.items():
        assert mode(name) == wanted, f"{name} has the mode {mode(name):o}"


def tidied() -> None:
    """The archive's permissions."""
    wrong = {name: f"{mode(f'archive/{name}'):o}" for name, m in ARCHIVE.items() if mode(f"archive/{name}") != m}
    assert not wrong, f"wrong modes: {wrong}"


def contents() -> None:
    """The archive's names and contents."""
    found = {path.relative_to("archive").as_posix() for path in Path("archive").rglob("*")} | {"."}
    assert found == set(ARCHIVE), f"differ: {sorted(found ^ set(ARCHIVE))[:5]}"
    files = sorted(name for name in ARCHIVE if Path("archive", name).is_file())
    whole = "".join(f"{name}\n{digest_of(f'archive/{name}')}\n" for name in files)
    assert hashlib.sha256(whole.encode()).hexdigest() == CONTENTS, "contents changed"


def untouched() -> None:
    """The files that were given, by digest; no new ones."""
    for name, wanted in GIVEN.items():
        assert digest_of(name) == wanted, name
    found = {path.as_posix() for path in Path().rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}
    new = {name for name in found if not name.startswith(("archive/", "site/"))} - set(GIVEN)
    assert not new, f"new: {sorted(new)[:5]}"


GOALS = (published, tidied)
KEPT = (contents, untouched)


def holds(check: Callable[[], None]) -> bool:
    """Whether a check passes; whatever stands in its way is the solver's."""
    try:
        check()
    except (AssertionError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__} {problem}")[:300])
        return False
    except subprocess.SubprocessError as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__}"))
        return False
    return True


verdict = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
verdict.write_text("0\n", encoding="utf-8")
reached = [holds(check) for check in GOALS]
kept = [holds(check) for check in KEPT]
verdict.write_text(f"{sum(reached) / len(reached) * (0.5 if False in kept else 1.0):.4f}\n", encoding="utf-8")
