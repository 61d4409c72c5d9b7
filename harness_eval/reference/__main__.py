"""`python -m harness_eval.reference`: serve until standard input closes, so that the server ends with its parent."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from pathlib import Path

from harness_eval.errors import HarnessEvalError
from harness_eval.reference.process import parse_couplings, parse_faults
from harness_eval.reference.server import ReferenceConfig, listening


def main() -> int:
    """Print one JSON line with the base URL, then serve; 2 when the configuration is wrong."""
    parser = argparse.ArgumentParser(prog="python -m harness_eval.reference", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--tasks", type=Path, nargs="+", required=True, metavar="DIR")
    parser.add_argument("--coupling", action="append", default=[], metavar="NAME=STRENGTH")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=STRENGTH")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    try:
        couplings, faults = parse_couplings(chosen.coupling), parse_faults(chosen.fault)
        config = ReferenceConfig(tuple(chosen.tasks), couplings, faults, chosen.seed, chosen.host, chosen.port)
        asyncio.run(_serve(config))
    except HarnessEvalError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


async def _serve(config: ReferenceConfig) -> None:
    loop, closed = asyncio.get_running_loop(), asyncio.Event()

    def watch() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(closed.set)

    async with listening(config) as base_url:
        print(json.dumps({"base_url": base_url}), flush=True)
        threading.Thread(target=watch, daemon=True).start()
        await closed.wait()


if __name__ == "__main__":
    sys.exit(main())
