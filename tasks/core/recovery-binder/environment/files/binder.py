"""Opens the sheets of binder.dat: python3 binder.py open NUMBER PHRASE"""

import base64
import hashlib
import itertools
import json
import sys
from pathlib import Path


def stream(number: str, phrase: str):
    """Bytes without end that depend on the sheet and its phrase."""
    for block in itertools.count():
        yield from hashlib.sha256(f"{number}|{phrase}|{block}".encode()).digest()


def main() -> int:
    """Print the sheet that is asked for."""
    if len(sys.argv) != 4 or sys.argv[1] != "open":
        print(__doc__)
        return 2
    sheets = json.loads(Path("binder.dat").read_text(encoding="utf-8"))
    number, phrase = sys.argv[2], sys.argv[3]
    if number not in sheets:
        print(f"ERROR: binder.dat has no block {number}")
        return 3
    data = base64.b64decode(sheets[number])
    text = bytes(byte ^ key for byte, key in zip(data, stream(number, phrase), strict=False))
    if not text.startswith(b"Sheet "):
        print(f"ERROR: checksum of block {number} differs: binder.dat is damaged here")
        print("hint: restore binder.dat from a backup, or go on with the blocks that can be read")
        return 4
    print(text.decode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
