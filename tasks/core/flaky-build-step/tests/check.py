"""Judges the almanac, its signature and the notes: a third each, nothing if given files were changed."""

import hashlib
import os
from pathlib import Path

from workspace import content

GIVEN = "0f4c4c6af0b49888c96511d611e7b8af7101e291d2b0fbea4c89cfd1629706bf"
COMMAND = "python3 build.py"


def digest() -> str:
    """A digest over the build script, the manifest and the pages."""
    total = hashlib.sha256()
    for path in (Path("build.py"), Path("manifest.txt"), *sorted(Path("pages").iterdir())):
        total.update(os.fsencode(path.as_posix()) + b"\0" + content(str(path)))
    return total.hexdigest()


def almanac() -> bytes:
    """The right almanac, made from the pages: four lines a row."""
    text = ""
    for name in content("manifest.txt").decode().split("\n")[1:-1]:
        lines = content(f"pages/{name}").decode().splitlines()
        text += "\n".join([f"== {name} ==", " | ".join(lines[:4]), " | ".join(lines[4:]), ""])
    return text.encode()


def same_options(line: str, wanted: list[str]) -> bool:
    """Whether the line is the build command with these options, in any order and with either way to give a value."""
    if line != COMMAND and not line.startswith(COMMAND + " "):
        return False
    words = line.removeprefix(COMMAND).replace("=", " ").split()
    pairs = [" ".join(words[at : at + 2]) for at in range(0, len(words), 2)]
    return sorted(pairs) == sorted(wanted)


def noted(right: bytes) -> bool:
    """Whether the notes hold the two commands in order, and no other one."""
    lines = [line.strip() for line in content("BUILD_NOTES.md").decode("utf-8", "replace").splitlines()]
    commands = [line for line in lines if line.startswith(COMMAND)]
    seal = hashlib.sha256(b"seal" + right).hexdigest()[:12]
    wanted = (["--layout 3", "--fold 4"], [f"--sign {seal}"])
    return len(commands) == len(wanted) and all(map(same_options, commands, wanted))


def score() -> float:
    """The reward in 0..1."""
    try:
        if digest() != GIVEN:
            print("the build script, the manifest or a page was changed")
            return 0.0
        right = almanac()
    except (OSError, ValueError) as error:
        print(f"the given files are gone or spoiled: {error}")
        return 0.0
    signature = hashlib.sha256(b"signed" + right).hexdigest().encode()
    points = {
        "almanac": content("dist/almanac.txt") == right,
        "signature": content("dist/almanac.sig").strip() == signature,
        "notes": noted(right),
    }
    print(points)
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
