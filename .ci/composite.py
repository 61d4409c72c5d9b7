"""Run the steps of a composite action as a runner of GitHub Actions does, as far as action.yml needs it.

`run` steps are run; `uses` steps are only told, with their inputs. What this does not know it refuses.
"""

from __future__ import annotations

import operator
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(r"\s*(?:(&&|\|\||==|!=|[()!])|'((?:[^']|'')*)'|([a-z][\w.-]*))", re.IGNORECASE)
_STATUS = {"success", "failure", "always", "cancelled"}
_STEP_KEYS = {"name", "id", "shell", "working-directory", "env", "run", "if", "uses", "with"}


@dataclass
class Ended:
    """What came of an action: how it ended, its outputs, what its steps printed and summed up, what it would use."""

    exit_code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    printed: str = ""
    summary: str = ""
    used: dict[str, dict[str, str]] = field(default_factory=dict)


class Composite:
    """An action's file, to be run with inputs.

    Raises:
        ValueError: it is no composite action, or holds what is not known here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.action: dict[str, Any] = yaml.safe_load((folder / "action.yml").read_text())
        if self.action["runs"]["using"] != "composite":
            raise ValueError("not a composite action")
        self.steps: list[dict[str, Any]] = self.action["runs"]["steps"]
        for step in self.steps:
            if unknown := step.keys() - _STEP_KEYS:
                raise ValueError(f"keys of a step that are not known here: {sorted(unknown)}")
            if "run" in step and (step.get("shell") != "bash" or _EXPRESSION.search(step["run"])):
                raise ValueError(f"{step['name']}: a script must be for bash and hold no expression")

    def run(self, inputs: Mapping[str, str], workspace: Path, environ: Mapping[str, str]) -> Ended:
        """Run all steps in order in a checkout; `environ` is the job's and needs RUNNER_TEMP.

        Raises:
            ValueError: an input that the action does not have.
        """
        declared: dict[str, dict[str, Any]] = self.action["inputs"]
        if unknown := inputs.keys() - declared.keys():
            raise ValueError(f"unknown inputs: {sorted(unknown)}")
        context = {f"inputs.{name}": str(about.get("default", "")) for name, about in declared.items()}
        context |= {f"inputs.{name}": value for name, value in inputs.items()}
        ended = Ended()
        for step in self.steps:
            if not _wanted(step, context, failed=ended.exit_code != 0):
                continue
            if "uses" in step:
                ended.used[step["uses"]] = _filled(step.get("with", {}), context)
                continue
            code, outputs = self._script(step, context, workspace, environ, ended)
            context |= {f"steps.{step['id']}.outputs.{name}": value for name, value in outputs.items()}
            ended.exit_code = ended.exit_code or code
        ended.outputs = _filled({name: each["value"] for name, each in self.action["outputs"].items()}, context)
        return ended

    def _script(
        self,
        step: Mapping[str, Any],
        context: Mapping[str, str],
        workspace: Path,
        environ: Mapping[str, str],
        ended: Ended,
    ) -> tuple[int, dict[str, str]]:
        with tempfile.TemporaryDirectory(dir=environ["RUNNER_TEMP"]) as place:
            script, output, summary = (Path(place) / name for name in ("script.sh", "output", "summary"))
            script.write_text(step["run"])
            output.touch()
            summary.touch()
            own = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true"}
            own |= {"GITHUB_ACTION_PATH": str(self.folder), "GITHUB_WORKSPACE": str(workspace)}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
                cwd=workspace / _fill(step.get("working-directory", "."), context),
                env={**environ, **own, **_filled(step.get("env", {}), context)},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            ended.printed += done.stdout
            ended.summary += summary.read_text()
            return done.returncode, outputs_of(output.read_text())


def outputs_of(text: str) -> dict[str, str]:
    """The outputs in a file: lines NAME=VALUE, and NAME<<END with lines up to END.

    Raises:
        ValueError: a line that is neither.
    """
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if match := re.fullmatch(r"([\w-]+)<<(.+)", line):
            found[match[1]] = "\n".join(_until(lines, match[2]))
        elif match := re.fullmatch(r"([\w-]+)=(.*)", line):
            found[match[1]] = match[2]
        else:
            raise ValueError(f"no output: {line!r}")
    return found


def evaluate(expression: str, context: Mapping[str, str], failed: bool) -> str | bool:
    """The value of an expression of names, texts, calls without arguments, !, ==, !=, && and ||.

    Raises:
        ValueError: anything else in it.
    """
    tokens, at = [], 0
    while expression[at:].strip():
        match = _TOKEN.match(expression, at)
        if match is None:
            raise ValueError(f"not known here: {expression[at:]}")
        tokens.append(match)
        at = match.end()
    parser = _Parser(tokens, context, failed)
    value = parser.either()
    if parser.tokens:
        raise ValueError(f"not known here: {expression}")
    return value


class _Parser:
    def __init__(self, tokens: list[re.Match[str]], context: Mapping[str, str], failed: bool) -> None:
        self.tokens, self.context, self.failed = tokens, context, failed

    def _takes(self, sign: str) -> bool:
        if self.tokens and self.tokens[0][1] == sign:
            self.tokens.pop(0)
            return True
        return False

    def either(self) -> str | bool:
        value = self.both()
        while self._takes("||"):
            other = self.both()
            value = value or other
        return value

    def both(self) -> str | bool:
        value = self.compared()
        while self._takes("&&"):
            other = self.compared()
            value = value and other
        return value

    def compared(self) -> str | bool:
        value = self.single()
        signs: dict[str, Callable[[Any, Any], bool]] = {"==": operator.eq, "!=": operator.ne}
        for sign, compare in signs.items():
            if self._takes(sign):
                return compare(value, self.single())
        return value

    def single(self) -> str | bool:
        if self._takes("!"):
            return not self.single()
        if self._takes("("):
            value = self.either()
            self._closed()
            return value
        token = self.tokens.pop(0)
        if token[2] is not None:
            return token[2].replace("''", "'")
        if token[3] in _STATUS:
            if not self._takes("("):
                raise ValueError(f"{token[3]} is a function")
            self._closed()
            return {"success": not self.failed, "failure": self.failed, "always": True, "cancelled": False}[token[3]]
        if token[3] is None or not token[3].startswith(("inputs.", "steps.")):
            raise ValueError(f"not known here: {token[0]}")
        return self.context.get(token[3], "")

    def _closed(self) -> None:
        if not self._takes(")"):
            raise ValueError("a parenthesis is open")


def _wanted(step: Mapping[str, Any], context: Mapping[str, str], failed: bool) -> bool:
    condition = str(step.get("if", "success()"))
    match = _EXPRESSION.fullmatch(condition.strip())
    condition = match[1] if match else condition
    if not any(f"{name}()" in condition for name in _STATUS):
        condition = f"success() && ({condition})"
    return bool(evaluate(condition, context, failed))


def _fill(text: str, context: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: str(evaluate(match[1], context, False)), str(text))


def _filled(texts: Mapping[str, str], context: Mapping[str, str]) -> dict[str, str]:
    return {name: _fill(text, context) for name, text in texts.items()}


def _until(lines: Iterator[str], end: str) -> Iterator[str]:
    for line in lines:
        if line == end:
            return
        yield line
    raise ValueError(f"no line {end!r}")


def job(place: Path) -> dict[str, str]:
    """The environment of a job whose temporary folder is in `place`; of this process only what finds programs."""
    temporary = place / "temp"
    temporary.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "CI": "true", "RUNNER_TEMP": str(temporary)}
