"""What the offered tools are for, understood from descriptions and parameters; names are the last thing looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from harness_eval.reference.offers import Offer, Parameter

_ROLES: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (role, re.compile(words, re.IGNORECASE), re.compile(name))
    for role, words, name in (
        (
            "new",
            r"\b(?:in|to put in) its place|replacement text|\bnew text\b|text to replace (?:it|`?old_string`?) with",
            r"new(_(str|string|text|content))?|replacement|replace_with",
        ),
        (
            "old",
            r"\b(?:text|string) to (?:replace|be replaced|find)\b|\bexact (?:old )?text\b",
            r"old(_(str|string|text|content))?|search",
        ),
        ("edits", r"(?!)", r"edits?|replacements"),
        ("patch", r"\bthe (?:whole )?(?:patch|diff)\b|search[- ]and[- ]replace blocks", r"patch|diff"),
        ("keys", r"\bkeystrokes\b|list of (?:shell )?commands", r"commands|keystrokes"),
        ("command", r"\b(?:shell|bash) command\b|\bcommand to (?:run|execute)|^the command\b", r"command|cmd|script"),
        ("path", r"\bpath (?:of|to) (?:the|a) file|\bthe file's path", r"path|file|file_?path|file_?name|target_file"),
        ("text", r"\bcontents? (?:of|for) the file|\b(?:whole|full|new) contents?\b", r"contents?|text|file_text"),
        ("todo", r"\b(?:whole|full|todo|to-do) list\b|\blist of (?:todo|plan)|todo items", r"todos?|items|plan_steps"),
    )
)
_OTHER_FIELDS = {"priority": "medium"}
_LONG = 400  # characters; in what describes a tool at length, words about ending a task are about something else
_NAMED_END = re.compile(r"submit|finish|complete|done|attempt_completion|final_answer", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHELL = re.compile(r"\b(?:shell|bash|terminal|command)\b", re.IGNORECASE)
_FILE = re.compile(r"\bfiles?\b", re.IGNORECASE)
_READS = re.compile(r"\b(?:read|view|show|display|open|print)s?\b", re.IGNORECASE)
_TODO = re.compile(r"\b(?:todo|to-do)\b|\bplan\b|^todo", re.IGNORECASE)
_ENDS = re.compile(
    r"\b(?:end|finish|hand in|submit|complete)s? (?:the|your) (?:work|task|trial|answer|result)\b|\bhand it in\b"
    r"|\b(?:task|work) is (?:done|complete|finished)\b|\bprovides? (?:a|the) final answer\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it is meant: the offered name, and arguments under the offered parameter names."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Skill:
    """One offered tool with what it does and which of its parameters plays which role."""

    kind: str
    offer: Offer
    roles: Mapping[str, Parameter] = field(hash=False)

    def call(self, said: str, **values: Any) -> Call:
        """A call with these values by role; whatever else is required is filled in, in words with `said`."""
        arguments = {self.roles[role].name: value for role, value in values.items() if role in self.roles}
        return Call(self.offer.name, completed(self.offer, arguments, said))


@lru_cache(maxsize=256)
def skills_of(offers: tuple[Offer, ...]) -> Mapping[str, Skill]:
    """For each kind of work the first offered tool that does it.

    Kinds: shell, keys (a list of commands), read, write, replace, edits, editor (one tool with a verb), patch, todo,
    submit, and other (the last of those that are for none of these).
    """
    found: dict[str, Skill] = {}
    for offer in offers:
        skill = _understood(offer)
        known = found.get(skill.kind)
        if known is None or _closeness(skill) > _closeness(known):
            found[skill.kind] = skill
    return found


def completed(offer: Offer, arguments: Mapping[str, Any], said: str) -> dict[str, Any]:
    """The arguments with every required parameter that is still missing, in the order in which they are described."""
    filled = {
        p.name: arguments[p.name] if p.name in arguments else _filler(p, said)
        for p in offer.parameters
        if p.required or p.name in arguments
    }
    return {**filled, **arguments}


def item_key(todo: Skill) -> str:
    """Under which name an item of a todo list holds its words."""
    parameter = todo.roles["todo"]
    listed = re.search(r"\beach item with (\w+)", parameter.description)
    return next((name for name in parameter.fields if name != "status"), listed[1] if listed else "content")


def todo_item(todo: Skill, content: str, done: bool) -> dict[str, Any]:
    """An item of a todo list, with every field that it must have."""
    parameter, key = todo.roles["todo"], item_key(todo)
    status = "completed" if done else "pending"
    if parameter.states and status not in parameter.states:
        status = parameter.states[-1 if done else 0]
    others = {name: _OTHER_FIELDS.get(name, content) for name in parameter.obliged if name not in (key, "status")}
    return {key: content, "status": status, **others}


def _understood(offer: Offer) -> Skill:
    roles: dict[str, Parameter] = {}
    for parameter in offer.parameters:
        role = _role(parameter)
        if role and role not in roles:
            roles[role] = parameter
    return Skill(_kind(offer, roles), offer, roles)


def _role(parameter: Parameter) -> str:
    if len(parameter.choices) > 1:
        return "verb" if any("replace" in choice for choice in parameter.choices) else ""
    name = _CAMEL.sub("_", parameter.name).lower()
    by_words = next((role for role, words, _ in _ROLES if words.search(parameter.description)), "")
    return by_words or next((role for role, _, names in _ROLES if names.fullmatch(name)), "")


def _kind(offer: Offer, roles: Mapping[str, Parameter]) -> str:
    described = f"{offer.name.replace('_', ' ')}: {offer.description}"
    has = roles.keys()
    about_files, reads = bool(_FILE.search(offer.description)), bool(_READS.search(offer.description))
    tests = (
        ("editor", {"verb", "path"} <= has),
        ("patch", "patch" in has),
        ("replace", {"path", "old", "new"} <= has and about_files),
        ("edits", {"path", "edits"} <= has and about_files),
        ("shell", "command" in has and bool(_SHELL.search(offer.description))),
        ("keys", "keys" in has and roles["keys"].type == "array"),
        ("write", {"path", "text"} <= has and about_files),
        ("read", "path" in has and about_files and reads and not has & {"text", "old"} and roles["path"].required),
        ("todo", "todo" in has and bool(_TODO.search(_gist(offer, described)))),
        ("submit", not has & {"path", "command"} and _ends(offer, described)),
    )
    return next((kind for kind, holds in tests if holds), "other")


def _gist(offer: Offer, described: str) -> str:
    """What tells the tool's purpose: of one that is described at length only its name."""
    return described if len(offer.description) <= _LONG else offer.name.replace("_", " ").lower()


def _ends(offer: Offer, described: str) -> bool:
    said = len(offer.description) <= _LONG or _NAMED_END.search(offer.name)
    return bool(said and _ENDS.search(described))


def _closeness(skill: Skill) -> int:
    """How surely the tool is the one of its kind; between equals the first offered wins."""
    if skill.kind == "shell":
        return len(set(re.findall(r"shell|bash|terminal|working directory|exit code", skill.offer.description.lower())))
    return 0


def _filler(parameter: Parameter, said: str) -> Any:
    if parameter.choices:
        return parameter.choices[0]
    return {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}.get(parameter.type, said)
