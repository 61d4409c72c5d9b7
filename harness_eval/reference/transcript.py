"""A plain-completions prompt in which a worked example and the task so far stand as command lines with their output."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness_eval.reference.progress import names_a_place
from harness_eval.reference.reading import SHELL, Situation, Turn
from harness_eval.reference.results import unframed
from harness_eval.types import Json

_MARK = "$ "
_NOTE = "# "
_TASK = re.compile(r"^[A-Z][A-Z0-9_]{7,}\n\nTask: ", re.MULTILINE)  # after the end of what was worked before


def read_prompt(body: Mapping[str, Json]) -> Situation:
    """What a plain-completions body says; a prompt that does not end at a command line is a task and nothing else."""
    prompt = str(body.get("prompt") or "").removesuffix(" ")
    end = f"\n{_MARK.rstrip()}"
    if not prompt.endswith(end):
        return Situation(task=prompt, seed=body.get("seed"))
    start = max((match.end() for match in _TASK.finditer(prompt)), default=0)
    blocks = _blocks(prompt[start:].removesuffix(end))
    task, opening = _parted(blocks[0])
    situation = Situation(prompt[:start], task, (SHELL,), "command-line", opening, seed=body.get("seed"))
    situation.turns.extend(_turn(block) for block in blocks[1:])
    return situation


def _blocks(text: str) -> list[list[str]]:
    """The lines of the task, then those of each own command with what follows it."""
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        # Output may begin with the same mark; every own command says where in the plan it stands.
        if line.startswith(_MARK) and names_a_place(line):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _turn(block: list[str]) -> Turn:
    command, output = block[0].removeprefix(_MARK), block[1:]
    text, notes = _parted(output)
    # This wire has no place for thinking, so none of it can be missing.
    return Turn(command, command, True, [unframed(text)], notes)


def _parted(lines: list[str]) -> tuple[str, list[str]]:
    """The text, and the notes that stand after it."""
    end = len(lines)
    while end and lines[end - 1].startswith(_NOTE):
        end -= 1
    notes = "\n".join(line.removeprefix(_NOTE) for line in lines[end:])
    return "\n".join(lines[:end]), [notes] if notes else []
