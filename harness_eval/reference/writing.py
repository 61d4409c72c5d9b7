"""An intended turn on the wire: native calls, or text in the protocol that the system prompt teaches."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness_eval.reference.shell_programs import on_one_line
from harness_eval.reference.skills import Call
from harness_eval.reference.turns import Turn


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the server sends back: visible text, reasoning, native calls."""

    text: str
    thinking: str
    calls: tuple[Call, ...] = ()


def utter(turn: Turn, dialect: str) -> Utterance:
    """The turn in a dialect; where no call can be made, its call is left out."""
    if dialect == "command-line":
        return Utterance(_command_line(turn), "")
    if turn.call is None or not dialect:
        return Utterance(turn.text, turn.thinking)
    if dialect == "native":
        return Utterance(turn.text, turn.thinking, (turn.call,))
    return Utterance(f"{turn.text}\n\n{_WRITERS[dialect](turn.call)}", turn.thinking)


def _command_line(turn: Turn) -> str:
    """The command with what is said as a comment after it, or the comment alone."""
    comment = f"# {' '.join(turn.text.split())}"
    return f"{on_one_line(_only_value(turn.call))} {comment}" if turn.call else comment


def _only_value(call: Call) -> str:
    return str(next(iter(call.arguments.values()), ""))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json_text(call: Call) -> str:
    return _json({"tool": call.name, "arguments": dict(call.arguments)})


def _xml_json(call: Call) -> str:
    inner = _json({"name": call.name, "arguments": dict(call.arguments)}).replace("</", "<\\/")
    return f"<tool_call>\n{inner}\n</tool_call>"


def _xml_function(call: Call) -> str:
    inner = "".join(f"<parameter={name}>\n{_plain(value)}\n</parameter>\n" for name, value in call.arguments.items())
    return f"<function={call.name}>\n{inner}</function>"


def _dsml(call: Call) -> str:
    parameters = "".join(
        f'<｜DSML｜parameter name="{name}" string="{str(isinstance(value, str)).lower()}">{_plain(value)}'
        "</｜DSML｜parameter>\n"
        for name, value in call.arguments.items()
    )
    inner = f'<｜DSML｜invoke name="{call.name}">\n{parameters}</｜DSML｜invoke>'
    return f"<｜DSML｜function_calls>\n{inner}\n</｜DSML｜function_calls>"


def _fenced_bash(call: Call) -> str:
    return f"```bash\n{_only_value(call)}\n```"


def _python_code(call: Call) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"```python\nresult = {call.name}({arguments})\n```"


def _typescript_code(call: Call) -> str:
    values = ", ".join(f"{name}: {_json(value)}" for name, value in call.arguments.items())
    return f"```typescript\nconst result = await tools.{call.name}({{ {values} }});\n```"


_WRITERS: Mapping[str, Callable[[Call], str]] = {
    "json-text": _json_text,
    "xml-json": _xml_json,
    "xml-function": _xml_function,
    "dsml": _dsml,
    "fenced-bash": _fenced_bash,
    "python-code": _python_code,
    "typescript-code": _typescript_code,
}
