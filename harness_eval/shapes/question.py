"""Questions with a checker: the answer goes into a file, and a program compares it with what the row says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from pydantic import Field, NonNegativeFloat, model_validator

from harness_eval.errors import ConfigError
from harness_eval.shapes.inside import verifier
from harness_eval.shapes.inside.question_check import accepts, number_in, tidy
from harness_eval.shapes.names import wrong_name
from harness_eval.shapes.patterns import pattern_fault, search
from harness_eval.shapes.row import (
    BARE_DOCKERFILE,
    DOCKERFILE,
    PLACEHOLDER,
    Row,
    Section,
    Shape,
    UnusableRow,
    filled,
    scripted,
    text_of,
    write_files,
)
from harness_eval.types import Json

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class QuestionColumns(Section):
    """Where a question row has what. `id` is by default the column `id` or `instance_id`, if there is one; without any,
    and with `id: null`, rows are named by their number.

    `context` holds files: text by file name, a list of `{name, text}`, or one text (context.txt). `choices` are the
    texts of a choice (a list, or `text` and `label` lists); `answer` is then a text, a letter or label, or an index
    from 0. `solution` has an answer that is right where `answer` is not one itself (a pattern).
    """

    id: str | None = None
    question: str = "question"
    answer: str = "answer"
    context: str | None = None
    choices: str | None = None
    solution: str | None = None


class Question(Shape):
    """A question whose answer a program can check; see `shapes/inside/question_check.py` for what each checker accepts.

    `answer_pattern` takes the answer out of a longer text (its one group). `{choices}` in the instruction is the
    lettered list. The answer is in the box only when it is judged.
    """

    verifier_seconds = 60.0
    usual_ids = ("id", "instance_id")

    shape: Literal["question"]
    columns: QuestionColumns = QuestionColumns()
    instruction: str = "{question}\n"
    answer_file: str = Field(default="answer.txt", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$")
    answer_pattern: str | None = None
    checker: Literal["exact", "number", "choice", "regex", "set", "program"] = "exact"
    ignore_case: bool = False
    tolerance: NonNegativeFloat = 0.0
    relative_tolerance: NonNegativeFloat = 0.0
    separator: str | None = Field(default=None, min_length=1)
    program: str | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        hidden = self._hidden
        shown = {name for name in PLACEHOLDER.findall(self.instruction) if name != "question"} | {self.columns.context}
        if self.columns.question != self.columns.answer and hidden & shown:
            raise ValueError(f"the answer (column {(hidden & shown).pop()!r}) must not be shown to the solver")
        if (self.checker == "program") != (self.program is not None):
            raise ValueError("the checker program, and it alone, needs `program`, the path of a Python file")
        if (self.checker == "choice") != (self.columns.choices is not None):
            raise ValueError("the checker choice, and it alone, needs columns.choices")
        if ".." in PurePosixPath(self.answer_file).parts or self.answer_file.endswith("/"):
            raise ValueError("answer_file: must be a file in the working directory")
        if self.answer_pattern is not None:
            if fault := pattern_fault(self.answer_pattern):
                raise ValueError(f"answer_pattern: {fault}")
            if re.compile(self.answer_pattern).groups != 1:
                raise ValueError("answer_pattern: needs exactly one group")
        return self

    @property
    def _hidden(self) -> set[str | None]:
        return {self.columns.answer, self.columns.solution} - {None}

    def own_columns(self) -> set[str]:
        """The columns that this shape reads."""
        return {name for name in self.columns.model_dump().values() if name is not None}

    def own_files(self, beside: Path) -> list[Path]:
        """The program that checks, if one does."""
        if self.program is None:
            return []
        path = beside / self.program
        if not path.is_file():
            raise ConfigError(f"{path}: there is no such file (program)")
        return [path]

    def used_columns(self) -> set[str]:
        """All columns that are read; `{question}` and `{choices}` stand for what the columns of these roles hold."""
        roles = {"question", *(["choices"] if self.columns.choices else [])}
        return self.own_columns() | (super().used_columns() - roles)

    def identity(self, row: Row, number: int) -> str:
        """Its id, or its number."""
        if "id" in self.columns.model_fields_set:
            return text_of(row, self.columns.id) if self.columns.id else f"row-{number}"
        found = [str(row[name]) for name in self.usual_ids if name not in self._hidden and row.get(name) is not None]
        return next((name for name in found if name.strip()), f"row-{number}")

    def write(self, row: Row, folder: Path, beside: Path) -> None:
        """Write the row's task into an empty folder."""
        question = text_of(row, self.columns.question)
        choices = self._choices(row)
        expected = self._expected(row, choices)
        lettered = "\n".join(f"{letter}. {text}" for letter, text in zip(_LETTERS, choices, strict=False))
        asked = filled(self.instruction, {**row, "question": question, "choices": lettered}).rstrip()
        if lettered and "{choices}" not in self.instruction:
            asked += f"\n\n{lettered}"
        instruction = f"{asked}\n\n{self._how()}\n"
        self._refuse_gifts(expected, instruction)
        context = self._context(row)
        files = verifier("question_check.py") | {
            "task.toml": self.task_toml(row),
            "instruction.md": instruction,
            "environment/Dockerfile": DOCKERFILE if context else BARE_DOCKERFILE,
            "tests/expected.json": json.dumps(expected, ensure_ascii=False, indent=1, sort_keys=True) + "\n",
            **{f"environment/files/{name}": text for name, text in context.items()},
            **self._solution(row, expected),
        }
        for program in self.own_files(beside):
            files["tests/program.py"] = program.read_text(encoding="utf-8")
        write_files(folder, files)

    def _how(self) -> str:
        separated = f"Separate the items by {self.separator!r}." if self.separator else "Write one item a line."
        form = {
            "number": "Write only the number.",
            "choice": "Write only the letter of the right choice.",
            "set": separated,
        }
        told = f"Write the answer, and nothing else, into the file `{self.answer_file}`."
        return f"{told} {form.get(self.checker, '')}".strip()

    def _choices(self, row: Row) -> list[str]:
        if self.columns.choices is None:
            return []
        given = row.get(self.columns.choices)
        texts = given.get("text") if isinstance(given, dict) else given
        if not isinstance(texts, list) or not 2 <= len(texts) <= len(_LETTERS):
            raise UnusableRow(f"its column {self.columns.choices!r} has no list of 2 to {len(_LETTERS)} choices")
        return [str(text) for text in texts]

    def _expected(self, row: Row, choices: list[str]) -> dict[str, Json]:
        """What the verifier knows."""
        expected: dict[str, Json] = {"checker": self.checker, "answer_file": self.answer_file}
        if choices:
            return expected | {"letter": self._letter(row, choices), "choices": choices}
        answers = self._answers(row.get(self.columns.answer))
        if self.checker == "number" and (wrong := [each for each in answers if number_in(each) is None]):
            raise UnusableRow(f"its answer {wrong[0][:60]!r} is no number")
        settings = {
            "ignore_case": self.ignore_case,
            "tolerance": self.tolerance,
            "relative_tolerance": self.relative_tolerance,
            "separator": self.separator,
        }
        return expected | {"answers": answers} | {key: value for key, value in settings.items() if value}

    def _answers(self, value: Json) -> list[str]:
        """The answers as texts; those of a set that is one text are its items."""
        values = value if isinstance(value, list) else [value]
        if self.checker == "set" and isinstance(value, str):
            values = value.split(self.separator or "\n")
        texts = [str(each) for each in values if each is not None and str(each).strip()]
        if self.answer_pattern is not None:
            found = [search(self.answer_pattern, text) for text in texts]
            texts = [match[1].strip() for match in found if match and match[1] and match[1].strip()]
        if not texts:
            raise UnusableRow(f"its column {self.columns.answer!r} has no answer")
        return texts

    def _letter(self, row: Row, choices: list[str]) -> str:
        given, value = row.get(self.columns.choices or ""), row.get(self.columns.answer)
        labels = [str(label) for label in given.get("label") or []] if isinstance(given, dict) else []
        text = "" if value is None else str(value).strip()
        if text in labels:
            return _LETTERS[labels.index(text)]
        if text in choices:
            return _LETTERS[choices.index(text)]
        if text.isdecimal() and len(text) <= len(_LETTERS) and int(text) < len(choices):
            return _LETTERS[int(text)]
        if len(text) == 1 and text.upper() in _LETTERS[: len(choices)]:
            return text.upper()
        raise UnusableRow(f"its answer {text[:60]!r} is none of its {len(choices)} choices")

    def _refuse_gifts(self, expected: dict[str, Json], instruction: str) -> None:
        """Refuse a row that nothing, or the instruction itself, would answer."""
        if self.checker == "program":
            return
        if any(_is_right(text, expected) for text in ("", instruction)):
            raise UnusableRow("an empty answer or the instruction itself would be right")

    def _context(self, row: Row) -> dict[str, str]:
        if self.columns.context is None or row.get(self.columns.context) is None:
            return {}
        given = row[self.columns.context]
        if isinstance(given, list):
            given = {each.get("name"): each.get("text") for each in given if isinstance(each, dict)}
        files = {"context.txt": given} if isinstance(given, str) else given
        if not isinstance(files, dict):
            raise UnusableRow(f"its column {self.columns.context!r} holds no files")
        texts = {str(name): str(text) for name, text in files.items() if text is not None}
        if wrong := wrong_name([self.answer_file, *texts]):
            raise UnusableRow(f"its context file {wrong}")
        return texts

    def _solution(self, row: Row, expected: dict[str, Json]) -> dict[str, str]:
        """A solution that writes a right answer, where the row has one."""
        if self.columns.solution is not None:
            answer = text_of(row, self.columns.solution)
        elif self.checker == "regex":
            return {}
        elif self.checker == "choice":
            answer = expected["letter"]
        elif self.checker == "set":
            answer = (self.separator or "\n").join(expected["answers"])
        else:
            answer = expected["answers"][0]
        place = shlex.quote(self.answer_file)
        script = f'#!/usr/bin/env bash\nmkdir -p "$(dirname {place})"\ncp "$(dirname "$0")/answer.txt" {place}\n'
        files = {"solution/solve.sh": script, "solution/answer.txt": f"{answer}\n"}
        return files | scripted(self.answer_file, f"{answer}\n", f"cat {place}")


def _is_right(text: str, expected: dict[str, Json]) -> bool:
    """What the verifier would say; patterns are searched for where they can do no harm."""
    if expected["checker"] != "regex":
        return accepts(text, expected)
    return any(search(pattern, tidy(text), whole=True) for pattern in expected["answers"])
