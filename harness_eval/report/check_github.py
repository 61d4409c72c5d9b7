"""A check for GitHub Actions: annotations, the job's summary and the step's outputs.

Nothing that a name or message says becomes a command or an output: what is special in a command is escaped, and outputs
are written between delimiters that nobody can guess.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from harness_eval.errors import ConfigError
from harness_eval.report import check_words as words
from harness_eval.report.check_files import markdown
from harness_eval.report.whole import encode

_SUMMARY, _OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"
_REASON = 1_000  # characters of why nothing was checked
_MOST = 10  # annotations of one kind that GitHub shows of a step
_LEVELS = {"pass": "notice", "fail": "error", "inconclusive": "warning", "incomplete": "error"}


def github(data: words.Data, environ: Mapping[str, str]) -> str:
    """Append the summary and the outputs `verdict` and `said` to the files that `environ` names, if it does.

    Returns the annotations, to be printed: of the verdict and, unless it is a pass, of the tasks that likely fell.

    Raises:
        ConfigError: such a file cannot be written.
    """
    _append(environ, _SUMMARY, markdown(data) + "\n")
    _append(environ, _OUTPUT, _output("verdict", data["verdict"]) + _output("said", words.sentence(data["said"])))
    return "".join(f"{line}\n" for line in announced(data))


def refused(reason: str) -> str:
    """The annotation of a check that could not be made, to be printed."""
    return _command("error", "Harness gate: nothing was checked", words.foreign(reason, _REASON)) + "\n"


def announced(data: words.Data) -> list[str]:
    """The lines that GitHub turns into annotations."""
    level = "error" if data["exit_code"] else _LEVELS[data["verdict"]]
    told = words.sentence(data["said"])
    if words.needed(data):
        told = f"{told.rstrip('.')}. To decide it: {words.needed(data)}"
    lines = [_command(level, f"Harness gate: {words.verdict(data)}", told)]
    likely = [row for row in words.likeliest(data) if row["chance"] >= words.LIKELY]
    if data["verdict"] != "pass":
        level = "warning" if data["verdict"] == "fail" else "notice"
        lines += [_command(level, words.foreign(row["task"]), words.flip(row)) for row in likely[:_MOST]]
    return lines


def _command(level: str, title: str, message: str) -> str:
    special = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={special}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _output(name: str, value: str) -> str:
    delimiter = f"end-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(environ: Mapping[str, str], variable: str, text: str) -> None:
    path = environ.get(variable)
    if not path:
        return
    try:
        with Path(path).open("ab") as file:
            file.write(encode(text))
    except OSError as error:
        raise ConfigError(f"{variable}: {path}: cannot be written: {error.strerror or error}") from None
