"""Shows who holds each port and where two services collide: python3 check_ports.py"""

import json
import sys
from pathlib import Path

BLOCKS = json.loads(Path("blocks.json").read_text(encoding="utf-8"))
SETTINGS = ("http", "metrics", "workers")  # one port, or the first and last of a range: 8010-8017


def service(path: Path) -> dict[str, str]:
    """The settings of one service."""
    lines = [line.partition("=") for line in path.read_text(encoding="utf-8").splitlines() if "=" in line]
    return {key.strip(): value.strip() for key, _, value in lines}


def held() -> dict[int, list[str]]:
    """For each port who holds it."""
    holders: dict[int, list[str]] = {}
    for path in sorted(Path("services").glob("*.conf")):
        settings = service(path)
        for setting in SETTINGS:
            if setting in settings:
                first, _, last = settings[setting].partition("-")
                for port in range(int(first), int(last or first) + 1):
                    holders.setdefault(port, []).append(f"{settings['name']} ({setting})")
    return holders


def main() -> int:
    """Print one line for each port of each block; 1 if there are conflicts."""
    holders = held()
    conflicts = 0
    for block, (first, last) in BLOCKS["blocks"].items():
        for port in range(first, last + 1):
            names = holders.get(port, [])
            if len(names) > 1:
                state = f"CONFLICT held by {' and '.join(names)}"
                conflicts += 1
            elif names:
                state = f"held     by {names[0]}"
            else:
                state = "reserved by the port desk" if port in BLOCKS["reserved"] else "free     no service holds it"
            print(f"port {port} block {block:<6} {state:<42} protocol tcp, address 127.0.0.1")
    print(f"{sum(map(len, holders.values()))} ports held, {conflicts} conflicts")
    return 1 if conflicts else 0


if __name__ == "__main__":
    sys.exit(main())
