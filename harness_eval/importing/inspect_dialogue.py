"""The messages of an Inspect sample as a trajectory: what the model said and was shown, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness_eval.importing.foreign import mapping, mappings
from harness_eval.types import (
    Action,
    Event,
    Json,
    Malformed,
    Note,
    Observation,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
)

_ATTACHED = "attachment://"
_STOPS = {
    "message": StopReason.STEPS,
    "turn": StopReason.STEPS,
    "token": StopReason.TOKENS,
    "cost": StopReason.TOKENS,
    "time": StopReason.TIME,
    "working": StopReason.TIME,
    "context": StopReason.OVERFLOW,
}
_UNANSWERED = "(no result was recorded)"


def stop_of(limit: str) -> StopReason:
    """Why a sample ended: the limit that it ran into, or its own end."""
    return _STOPS.get(limit, StopReason.FINISHED)


def dialogue(sample: Mapping[str, Json], limit: str) -> Trajectory | None:
    """The dialogue of a sample; None where it has none. Tokens and time are known of the whole sample only."""
    messages = mappings(sample.get("messages"))
    if not any(each.get("role") == "assistant" for each in messages):
        return None
    texts = mapping(sample.get("attachments"))
    results = {str(each.get("tool_call_id")): each for each in messages if each.get("role") == "tool"}
    system = "\n\n".join(_text(each, texts) for each in messages if each.get("role") == "system")
    asked = [place for place, each in enumerate(messages) if each.get("role") == "user"]
    prompt = _text(messages[asked[0]], texts) if asked else ""
    events: list[Event] = []
    for place, message in enumerate(messages):
        if message.get("role") == "assistant":
            events.append(_step(message, results, texts))
        elif message.get("role") == "user" and place != asked[0]:
            events.append(Note(_text(message, texts), "message"))
    return Trajectory(system, prompt, tuple(events), None if sample.get("error") else stop_of(limit))


def _step(message: Mapping[str, Json], results: Mapping[str, Mapping[str, Json]], texts: Mapping[str, Json]) -> Step:
    calls, malformed, shown, unread = [], [], [], []
    for call in mappings(message.get("tool_calls")):
        name, identity = str(call.get("function") or ""), str(call.get("id") or "")
        arguments, wrong = call.get("arguments"), call.get("parse_error")
        if wrong or not isinstance(arguments, dict):
            malformed.append(Malformed(identity, name, _attached(arguments, texts), str(wrong or "no object")))
            unread.append(_observation(results.get(identity), texts))
        else:
            calls.append(ToolCall(identity, name, _resolved(arguments, texts)))
            shown.append(_observation(results.get(identity), texts))
    action = Action(_text(message, texts), _thinking(message, texts), tuple(calls), tuple(malformed))
    return Step(action, (*shown, *unread))


def _observation(result: Mapping[str, Json] | None, texts: Mapping[str, Json]) -> Observation:
    if result is None:
        return Observation(_UNANSWERED, len(_UNANSWERED), failed=True)
    error = result.get("error")
    text = _text(result, texts)
    if isinstance(error, dict) and not text:
        text = str(error.get("message") or "")
    return Observation(text, len(text), failed=bool(error))


def _text(message: Mapping[str, Json], texts: Mapping[str, Json]) -> str:
    """The text of a message; of an image or a file, what kind it is."""
    parts = []
    for part in _parts(message):
        kind = part.get("type")
        if kind == "text":
            parts.append(_attached(part.get("text"), texts))
        elif kind != "reasoning":
            parts.append(f"({kind})")
    return "\n".join(parts)


def _thinking(message: Mapping[str, Json], texts: Mapping[str, Json]) -> str | None:
    found = [
        _attached(part.get("reasoning") or part.get("summary"), texts)
        for part in _parts(message)
        if part.get("type") == "reasoning"
    ]
    return "\n".join(found) if found else None


def _parts(message: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
    content = message.get("content")
    if isinstance(content, list):
        return mappings(content)
    return [{"type": "text", "text": content}] if content else []


def _attached(value: Json, texts: Mapping[str, Json]) -> str:
    """A text, fetched from the sample's attachments where it was moved there."""
    text = "" if value is None else str(value)
    return str(texts.get(text.removeprefix(_ATTACHED), text)) if text.startswith(_ATTACHED) else text


def _resolved(arguments: Mapping[str, Json], texts: Mapping[str, Json]) -> Mapping[str, Json]:
    return {key: _attached(value, texts) if isinstance(value, str) else value for key, value in arguments.items()}
