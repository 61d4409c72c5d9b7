"""Builds the almanac from its pages and signs it. See README.md."""

import argparse
import hashlib
import sys
from pathlib import Path

PAGES = Path("pages")
ALMANAC = Path("dist/almanac.txt")
SIGNATURE = Path("dist/almanac.sig")


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description="Build the almanac, or sign it.")
    parser.add_argument("--all", action="store_true", help="build from a manifest of layout 1")
    parser.add_argument("--layout", type=int, help="build from a manifest of this layout")
    parser.add_argument("--fold", type=int, default=0, help="lines of a page that go on one row")
    parser.add_argument("--sign", metavar="SEAL", help="sign what was built; the seal is printed by the build")
    return parser.parse_args()


def manifest():
    """The layout, the fold, and the names of the pages in order."""
    head, *names = Path("manifest.txt").read_text(encoding="utf-8").split("\n")
    _, layout, _, fold = head.split()
    return int(layout), int(fold), [name for name in names if name]


def rows(text, fold):
    """The lines of a page, `fold` of them joined to one row."""
    lines = text.splitlines()
    return [" | ".join(lines[at : at + fold]) for at in range(0, len(lines), fold)]


def seal(data):
    """A short seal of what was built."""
    return hashlib.sha256(b"seal" + data).hexdigest()[:12]


def look_at(names, layout, fold):
    """Print one line a page, and in the midst of them what is wrong."""
    for number, name in enumerate(names, 1):
        size = (PAGES / name).stat().st_size
        print(f"[{number:3}/{len(names)}] page {name:<14} {size:4} bytes, encoding utf-8, links checked, margins fit")
        if number == len(names) // 2:
            print(f"note: {name} folds {fold} lines a row, as do all pages of a manifest of layout {layout}")
            command = f"python3 build.py --layout {layout} --fold {fold}"
            print(f"note: --all reads layout 1 only; this one is built with: {command}")


def build(layout, fold):
    """Write the almanac, or explain badly why not."""
    wanted_layout, wanted_fold, names = manifest()
    look_at(names, wanted_layout, wanted_fold)
    if layout != wanted_layout:
        print("warning: layout table not found, falling back")
        print("ERROR: cannot write dist/almanac.txt: permission denied (are you root? is the disk full?)")
        return 13
    if fold != wanted_fold:
        print("ERROR: no page fits the paper; install a larger printer")
        return 14
    pages = {name: (PAGES / name).read_text(encoding="utf-8") for name in names}
    text = "".join("\n".join([f"== {name} ==", *rows(page, fold), ""]) for name, page in pages.items())
    ALMANAC.parent.mkdir(exist_ok=True)
    ALMANAC.write_text(text, encoding="utf-8")
    print(f"wrote {ALMANAC} from {len(names)} pages, seal {seal(text.encode())}; not signed yet")
    return 0


def sign(given):
    """Write the signature if the seal is that of the almanac."""
    data = ALMANAC.read_bytes() if ALMANAC.is_file() else b""
    if not data or given != seal(data):
        print("ERROR: key server unreachable (seal refused)")
        return 15
    SIGNATURE.write_text(hashlib.sha256(b"signed" + data).hexdigest() + "\n", encoding="utf-8")
    print(f"wrote {SIGNATURE}")
    return 0


def main():
    """Run what the command line asks for."""
    chosen = options()
    if chosen.sign:
        return sign(chosen.sign)
    if chosen.all:
        return build(1, chosen.fold)
    if chosen.layout:
        return build(chosen.layout, chosen.fold)
    print("nothing to do; try --all or --help")
    return 2


sys.exit(main())
