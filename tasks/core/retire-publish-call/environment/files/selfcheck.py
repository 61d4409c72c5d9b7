"""Runs all modules of the station: python3 selfcheck.py"""

import importlib
import sys
import warnings
from pathlib import Path

sys.path.insert(0, ".")


def main():
    """List the modules that still use publish of the bus, or break."""
    left = 0
    for path in sorted(Path("station").glob("*.py")):
        module = importlib.import_module(f"station.{path.stem}" if path.stem != "__init__" else "station")
        if not hasattr(module, "report"):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                module.report(21.5)
                broken = ""
            except Exception as error:
                broken = f"breaks: {error!r}"
        if caught or broken:
            left += 1
            print(f"station/{path.name}: {broken or 'uses publish'}")
    print(f"{left} modules left")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
