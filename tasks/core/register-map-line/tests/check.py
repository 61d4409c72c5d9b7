"""All or nothing: one number in one line of a long file put right, and not a byte of anything else changed."""

import hashlib
import os
import re
from pathlib import Path

from workspace import content, digest_of

GIVEN = {
    "commissioning.csv": "c2d61b5d17d04d9b189e3ebb21d5be5568318704b0acddb32bd3f70301c7db94",
    "compare_panel.py": "489621c17d43b2b2f1d6233536bb8cbf84d4a5a5ab79048f2a614e510f404338",
    "plant": "",
    "plant/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
}
CHANGED, LINE = "plant/registers.py", 802
OTHER_LINES = "0018568998992ac0a81b0d65e32dc919ad0673c32905715c5bd9a616c339d025"


def others() -> list[str]:
    """What was changed, removed or added beside the one file."""
    found = {}
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        for path in (Path(folder, name) for name in names + files):
            plain_folder = path.is_dir() and not path.is_symlink()
            found[path.as_posix()] = "" if plain_folder else digest_of(path)
    found.pop(CHANGED, None)
    return sorted(name for name in {*found, *GIVEN} if found.get(name) != GIVEN.get(name))


def corrected() -> bool:
    """Whether the one line holds the right number, however it is written, and all other lines are as before."""
    lines = content(Path(CHANGED)).decode("utf-8").splitlines()
    line = lines.pop(LINE - 1) if len(lines) >= LINE else ""
    same = hashlib.sha256("\n".join(lines).encode()).hexdigest() == OTHER_LINES
    return same and bool(re.fullmatch(r"    offset = -25(\.0*)?\s*", line))


def score() -> float:
    """The reward, 0 or 1."""
    try:
        right, touched = corrected(), others()
    except (OSError, ValueError) as error:
        print(f"files are gone or spoiled: {error!a}")
        return 0.0
    print(f"corrected: {right}; touched besides: {touched[:20]!a}")
    return 1.0 if right and not touched else 0.0


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
