"""`harness-eval diagnose`: what each turn of a recorded dialogue is, and whose."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer
import zstandard

from harness_eval import recording
from harness_eval.cli.output import JsonFlag
from harness_eval.diagnosis.dialogue import Diagnosis, diagnose
from harness_eval.diagnosis.exchange import read_exchanges
from harness_eval.diagnosis.labels import Finding
from harness_eval.types import Json

app = typer.Typer(add_completion=False)


@app.command("diagnose")
def command(
    log: Annotated[
        Path, typer.Argument(metavar="WIRE.jsonl", help="One exchange a line, in order; - reads standard input.")
    ],
    as_json: JsonFlag = False,
) -> None:
    """Label recorded exchanges: one JSON line for each turn, counted from 0, and one for the dialogue (turn null)."""
    del as_json  # it is JSON in any case, and line by line: that is what scripts read
    for line in report_of(log):
        print(recording.dump(line).decode())


def report_of(log: Path) -> list[dict[str, Json]]:
    """The lines to print for a wire log.

    Raises:
        ConfigError: the log is empty or damaged.
        OSError: it cannot be opened.
    """
    if str(log) == "-":
        return lines_of(diagnose(read_exchanges(sys.stdin.buffer, "standard input"), "standard input"))
    with log.open("rb") as file:
        packed = file.peek(4)[:4] == zstandard.FRAME_HEADER  # as runs keep them
        lines = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file)) if packed else file
        return lines_of(diagnose(read_exchanges(lines, str(log)), str(log)))


def lines_of(diagnosis: Diagnosis) -> list[dict[str, Json]]:
    """A diagnosis as the objects of its lines."""
    turns = [_line(number, finding) for number, finding in enumerate(diagnosis.turns)]
    return [*turns, _line(None, diagnosis.dialogue)]


def _line(turn: int | None, finding: Finding) -> dict[str, Json]:
    line: dict[str, Json] = {"turn": turn, "label": finding.label, "owner": finding.owner, "effect": finding.effect}
    line["evidence"] = finding.evidence
    return {**line, "also": list(finding.also)} if finding.also else line
