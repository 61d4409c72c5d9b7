"""Looks at what is live: python3 bin/health.py"""

import os
import sys
from pathlib import Path

SRV = Path("srv")
LINKS = ("current", "conf/app.conf", "bin/web", "bin/worker")


def main():
    """Print one line a check; 1 if something is ill."""
    live = Path(os.path.realpath(SRV / "current")).name
    ill = []
    for name in LINKS:
        place = Path(os.path.realpath(SRV / name))
        release = next((part for part in place.parts if part.startswith("r1")), "nothing")
        print(f"{name:14} is of {release}")
        if release != live or not place.exists():
            ill.append(f"{name} does not belong to {live}")
    settings = (SRV / "current" / "app.conf").read_text(encoding="utf-8")
    if "pool = 0" in settings:
        ill.append(f"{live} has no connections (pool = 0 in app.conf)")
    print("\n".join(f"ill: {reason}" for reason in ill) or "healthy")
    return 1 if ill else 0


sys.exit(main())
