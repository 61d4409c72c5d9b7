"""Runs the examples: python3 run_tests.py [NAME]..."""

import json
import sys

from cases import CASES
from quickconf import ParseError, parse


def main() -> int:
    """Show each example with what came out; 1 if one is not as expected."""
    wanted = [case for case in CASES if case[0] in sys.argv[1:]] or CASES
    failed = 0
    for number, (name, text, expected) in enumerate(wanted, 1):
        try:
            got = parse(text)
            shown = json.dumps(got)
        except ParseError as problem:
            got = None
            shown = f"refused ({problem})"
        print(f"example {number} of {len(wanted)}: {name}\n    input     {json.dumps(text)}")
        print(f"    expected  {'to be refused' if expected is None else json.dumps(expected)}\n    got       {shown}")
        print(f"    {'ok' if got == expected else 'FAILED'}: {name}")
        failed += got != expected
    print(f"{len(wanted)} examples, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
