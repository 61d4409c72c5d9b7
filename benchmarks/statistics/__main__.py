"""Repeat the simulations of the statistics and write them beside the published tables.

python -m benchmarks.statistics --quick            # a few minutes
python -m benchmarks.statistics                    # as many repetitions as were published, or more
python -m benchmarks.statistics --only worst floor # some of the tables

Finished cells are kept in the checkpoint: a command that was stopped goes on where it was. The page is written from
everything the checkpoint holds, at the end and after every table; a cell without full repetitions shows its quick ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .cells import Cell, Checkpoint, Result
from .page import page
from .tables import TABLES

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions")
    parser.add_argument("--only", nargs="+", choices=[table.key for table in TABLES], help="tables to run")
    parser.add_argument("--cells", default="", metavar="TEXT", help="only cells whose name contains this")
    parser.add_argument("--page-only", action="store_true", help="run nothing: write what the checkpoint holds")
    parser.add_argument("--checkpoint", type=Path, default=ROOT / "build" / "statistics.jsonl")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "STATISTICS.md")
    options = parser.parse_args()
    checkpoint, results = Checkpoint(options.checkpoint), {}
    planned = {table.key: table.cells() for table in TABLES}
    for cells in planned.values():
        assert all(cell.version for cell in cells)
    for key, cells in planned.items():
        results[key] = _table(key, cells, checkpoint, options)
        _write(results, options)
    print(f"written: {options.out}")


def _table(key: str, cells: list[Cell], checkpoint: Checkpoint, options: argparse.Namespace) -> dict[str, Result]:
    wanted = not options.page_only and (options.only is None or key in options.only)
    found = {}
    for cell in cells:
        reps = cell.quick if options.quick else cell.reps
        result = checkpoint.found(cell, reps)
        if result is None and wanted and options.cells in cell.name:
            result = checkpoint.run(cell, reps)
            print(f"{key}: {cell.name}: {result.seconds:.1f} s", flush=True)
        result = result or checkpoint.found(cell, cell.quick)
        if result is not None:
            found[cell.name] = result
    return found


def _write(results: dict[str, dict[str, Result]], options: argparse.Namespace) -> None:
    seconds = sum(result.seconds for some in results.values() for result in some.values())
    options.out.write_text(page(results, "quick form" if options.quick else "full form", seconds))


if __name__ == "__main__":
    main()
