"""All ways in which an intended piece of work can be done with the tools at hand, the most direct one first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness_eval.reference.edits_as_text import patch_add, patch_update, search_and_replace, whole_lines
from harness_eval.reference.shell_programs import edit_file, isolated, make_file, show_file
from harness_eval.reference.skills import Call, Skill

Skills = Mapping[str, Skill]

_ENDS_A_CALL = {"xml-function": ("</function>", "</parameter>"), "dsml": ("｜DSML｜",)} | dict.fromkeys(
    ("fenced-bash", "python-code", "typescript-code"), ("```",)
)


def ways_to(kind: str, wanted: Mapping[str, str], skills: Skills, said: str, content: str | None) -> tuple[Call, ...]:
    """Calls of which any one does the work, the shell last; empty where no offered tool can.

    Args:
        kind: run (command), read (path), create (path, text) or edit (path, old, new).
        wanted: the arguments of that kind.
        skills: what the offered tools do.
        said: one sentence for parameters that want words.
        content: of an edit, the file as far as it was seen.
    """
    if kind == "run":
        return tuple(_shell(skills, isolated(wanted["command"]), said))
    path = wanted["path"]
    if kind == "read":
        return (*_read(skills, path, said), *_shell(skills, show_file(path), said))
    if kind == "create":
        command = make_file(path, wanted["text"])
        return (*_create(skills, path, wanted["text"], said), *_shell(skills, command, said))
    command = edit_file(path, wanted["old"], wanted["new"])
    return (*_edit(skills, wanted, said, content), *_shell(skills, command, said))


def fits(call: Call, dialect: str) -> bool:
    """Whether no argument holds what would end the call too early in this dialect."""
    ends = _ENDS_A_CALL.get(dialect, ())
    return not any(end in str(value) for value in call.arguments.values() for end in ends)


def _shell(skills: Skills, command: str, said: str) -> Iterator[Call]:
    if skill := skills.get("shell"):
        as_list = skill.roles["command"].type == "array"
        yield skill.call(said, command=["bash", "-c", command] if as_list else command)
    if skill := skills.get("keys"):
        yield skill.call(said, keys=[_keys(skill, command)])


def _keys(skill: Skill, command: str) -> Any:
    parameter = skill.roles["keys"]
    fields = parameter.fields or (("keystrokes",) if "keystrokes" in parameter.description.lower() else ())
    if parameter.item == "string" or not fields:
        return command
    return {"keystrokes" if "keystrokes" in fields else fields[0]: command}


def _read(skills: Skills, path: str, said: str) -> Iterator[Call]:
    if skill := skills.get("read"):
        yield skill.call(said, path=path)
    if skill := skills.get("editor"):
        yield skill.call(said, verb=_verb(skill, "view", "read", "show"), path=path)


def _create(skills: Skills, path: str, text: str, said: str) -> Iterator[Call]:
    if skill := skills.get("write"):
        yield skill.call(said, path=path, text=text)
    if (skill := skills.get("editor")) and "text" in skill.roles:
        yield skill.call(said, verb=_verb(skill, "create", "write"), path=path, text=text)
    if (skill := skills.get("patch")) and _takes_patches(skill) and text.endswith("\n"):
        yield skill.call(said, patch=patch_add(path, text))


def _edit(skills: Skills, wanted: Mapping[str, str], said: str, content: str | None) -> Iterator[Call]:
    path, old, new = wanted["path"], wanted["old"], wanted["new"]
    if skill := skills.get("replace"):
        yield skill.call(said, path=path, old=old, new=new)
    if skill := skills.get("edits"):
        yield skill.call(said, path=path, edits=_edits(skill, old, new))
    if skill := skills.get("editor"):
        yield skill.call(said, verb=_verb(skill, "str_replace", "replace", "edit"), path=path, old=old, new=new)
    lines = whole_lines(old, new, content)
    if lines and (skill := skills.get("patch")):
        if _takes_patches(skill):
            yield skill.call(said, patch=patch_update(path, *lines))
        elif lines[1]:
            yield skill.call(said, path=path, patch=search_and_replace(*lines))


def _edits(skill: Skill, old: str, new: str) -> Any:
    fields = skill.roles["edits"].fields
    named = {
        next((f for f in fields if f.lower().startswith("old")), "old"): old,
        next((f for f in fields if f.lower().startswith("new")), "new"): new,
    }
    return named if skill.roles["edits"].type == "object" else [named]


def _verb(skill: Skill, *words: str) -> str:
    return next((word for word in words if word in skill.roles["verb"].choices), words[0])


def _takes_patches(skill: Skill) -> bool:
    return "*** Begin Patch" in f"{skill.offer.description} {skill.roles['patch'].description}"
