"""`harness-eval harness diff` and `harness lock`: what changed in what models receive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness_eval import bundled
from harness_eval.cli.harness_external import lock_externals
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.dialogue import requests_of, wire_hash
from harness_eval.errors import ConfigError
from harness_eval.external.adapter import named_externals
from harness_eval.external.locked import lock_file
from harness_eval.harness import Harness, check_distinct, load_harness, named_harnesses
from harness_eval.lock import (
    Change,
    Entry,
    changes_since,
    check_lock,
    differences,
    locked_at,
    locked_harnesses,
    write_lock,
)
from harness_eval.report.wording import count, printable
from harness_eval.types import Json

_Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown for a comment on a pull request.")]
_LOCK_HERE = Path("harnesses") / "harnesses.lock"
_SINCE = {"not locked yet": "new", "locked, but gone": "gone"}
_Side = Annotated[str | None, typer.Argument(help="A name from the list, or the path of a YAML file.")]


def diff(
    first: _Side = None,
    second: _Side = None,
    base: Annotated[
        str | None, typer.Option(metavar="REV", help="What changed in the lock's harnesses since this git revision.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="The lock file that --base compares; harnesses/harnesses.lock here, else the package's."),
    ] = None,
    markdown: _Markdown = False,
    as_json: JsonFlag = False,
) -> None:
    """Show how two harnesses differ, or, with --base, which ones changed since a git revision.

    Two harnesses: axes, system prompt, tools, and the requests of a fixed dialogue. With --base, exit code 1 where what
    models receive has changed without a new version.
    """
    _refuse_both(markdown, as_json)
    if base is not None:
        if first is not None:
            raise ConfigError("--base: compares all harnesses of a lock; name no harness with it")
        _diff_since(base, file, markdown, as_json)
    elif first is None or second is None:
        raise ConfigError("harness diff: name two harnesses, or a git revision with --base")
    elif file is not None:
        raise ConfigError("--file: names the lock for --base; two harnesses are compared without one")
    else:
        _diff_two(load_harness(first), load_harness(second), markdown, as_json)


def _diff_two(one: Harness, other: Harness, markdown: bool, as_json: bool) -> None:
    found = differences(one, other)
    if markdown or as_json:
        axes = [axis for axis in one.labels if one.levels[axis] != other.levels[axis]]
        differing = [{"axis": axis, "first": one.labels[axis], "second": other.labels[axis]} for axis in axes]
        sides = {"before": _identity(one), "after": _identity(other)}
        data = {"first": one.id, "second": other.id, **sides, "differ": differing, "lines": found}
        _print_markdown(data) if markdown else print_json(data)
    elif any(found.values()):
        for title, lines in found.items():
            _print_lines([title, "-" * len(title), *(lines or ["the same"]), ""])
    else:
        say(f"{one.name} and {other.name} are the same harness")


def _identity(harness: Harness) -> dict[str, Json]:
    wire = wire_hash(requests_of(harness))
    return {"harness": harness.name, "version": harness.version, "id": harness.id, "wire": wire}


def _diff_since(base: str, file: Path | None, markdown: bool, as_json: bool) -> None:
    file = file or _lock_here()
    path = file or _own_lock()
    if not path.exists():
        raise ConfigError(f"{path}: there is no lock in the work tree to compare; write one with harness lock")
    before = locked_at(path, base)
    harnesses = _harnesses(None, file, path)
    changes = changes_since(before, harnesses)
    told = [{**_told(change), "change": _SINCE.get(change.kind, change.kind)} for change in changes]
    data = {"lock": str(path), "base": base, "harnesses": len(harnesses), "changes": told}
    _print_changes(data, markdown, as_json)
    raise typer.Exit(0 if all(change.allowed for change in changes) else 1)


def lock(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[HARNESS]...", help="Names or files; all of the lock, if none.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="The lock file; harnesses/harnesses.lock here, else the package's.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Compare and write nothing; exit code 1 on a change.")] = False,
    markdown: _Markdown = False,
    as_json: JsonFlag = False,
) -> None:
    """Remember what models receive from harnesses, or check that it has not changed without a new version.

    External harnesses that are named are run once; what the wire shows of them is kept for harness doctor.
    """
    _refuse_both(markdown, as_json)
    if _lock_externals(names or [], check or markdown or file is not None, as_json):
        return
    known = named_harnesses()
    own = set(names or ()) - set(known)
    if file is None and (own or not names):  # harnesses that the package knows by name belong to its own lock
        file = _lock_here()
    if own and file is None:
        raise ConfigError(f"{min(own)}: the package's own lock holds its own harnesses; name yours with --file")
    path = file or _own_lock()
    if check and not path.exists():
        raise ConfigError(f"{path}: there is no lock to check; write one without --check")
    harnesses = _harnesses(names, file, path)
    check_distinct(harnesses)
    changes = check_lock(path, harnesses, whole=not names)
    if not check:
        _refuse_unversioned(path, changes)
        given = zip(names or (), harnesses, strict=False)
        placed = {harness.name: Path(name) for name, harness in given if name in own}
        write_lock(path, harnesses, whole=not names, files=placed if file else known)
    data = {"lock": str(path), "harnesses": len(harnesses), "changes": list(map(_told, changes))}
    _print_changes(data, markdown, as_json)
    if check and changes:
        say(_to_do(changes, f" --file {file}" if file else ""))
    raise typer.Exit(1 if check and changes else 0)


def _lock_externals(names: list[str], otherwise: bool, as_json: bool) -> bool:
    """Lock external harnesses; False where none is named. `otherwise`: flags were given that are not for them."""
    outside = [name for name in names if name in named_externals()]
    if outside and (otherwise or len(outside) < len(names)):
        raise ConfigError(f"{outside[0]}: an external harness is locked by itself, and compared by harness doctor")
    if not outside:
        return False
    found = lock_externals(outside)
    if as_json:
        print_json({"lock": str(lock_file()), "externals": [each.name for each in found]})
    say(f"{count(len(found), 'external harness')} locked: {lock_file()}")
    return True


def _to_do(changes: list[Change], file: str) -> str:
    unversioned = not all(change.allowed for change in changes)
    first = "raise `version` in the files of those that changed without a new one, then " if unversioned else ""
    return f"{first}lock them anew: harness-eval harness lock{file}"


def _own_lock() -> Path:
    return bundled.folder("harnesses") / "harnesses.lock"


def _lock_here() -> Path | None:
    """The lock of the current folder where there is one and it is not the package's, which is told; None otherwise."""
    if not _LOCK_HERE.is_file() or _LOCK_HERE.samefile(_own_lock()):
        return None
    say(f"lock: {_LOCK_HERE}, which stands here (another one: --file)")
    return _LOCK_HERE


def _harnesses(names: list[str] | None, file: Path | None, path: Path) -> list[Harness]:
    """Those that are named; else those that a lock of the user's own holds; else all that travel with the package."""
    if names or file is None or not path.exists():
        return [load_harness(name) for name in names or named_harnesses()]
    return locked_harnesses(path)


def _refuse_both(markdown: bool, as_json: bool) -> None:
    if markdown and as_json:
        raise ConfigError("--markdown and --json: choose one of them")


def _refuse_unversioned(path: Path, changes: list[Change]) -> None:
    unversioned = [change.name for change in changes if not change.allowed]
    if unversioned:
        named = ", ".join(unversioned)
        raise ConfigError(f"{path}: {named}: what models receive has changed; raise its `version` first (see --check)")


def _told(change: Change) -> dict[str, Json]:
    sides = {"before": _entry(change.before), "after": _entry(change.after)}
    return {"harness": change.name, "change": change.kind, "allowed": change.allowed, **sides, "lines": change.lines}


def _entry(entry: Entry | None) -> Json:
    return entry.model_dump(include={"version", "id", "wire"}) if entry else None


def _print_changes(data: dict[str, Json], markdown: bool, as_json: bool) -> None:
    if as_json:
        print_json(data)
    elif markdown:
        _print_markdown(data)
    else:
        for each in data["changes"]:
            _print_lines([f"{each['harness']}: {each['change']}", *each["lines"]])
        since = f" since {data['base']}" if "base" in data else ""
        many = f"{count(data['harnesses'], 'harness')}, {count(len(data['changes']), 'change')}"
        say(f"{many}{since}: {data['lock']}")


def _print_markdown(data: dict[str, Json]) -> None:
    from harness_eval.report import review  # lazy: slow import

    print(review.markdown(data), end="")


def _print_lines(lines: list[str]) -> None:
    print("\n".join(printable(line, keep="\t") for line in lines))
