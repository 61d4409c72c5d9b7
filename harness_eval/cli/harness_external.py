"""`harness-eval harness install`, `uninstall` and `doctor`: real command-line harnesses on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.errors import ConfigError
from harness_eval.external import installing, locked
from harness_eval.external.adapter import External, load_external, named_externals
from harness_eval.report.wording import count
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.checkup import Checkup

_Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Names from the list, or paths of YAML files.")
]
_Sandbox = Annotated[str, typer.Option(help="auto, bubblewrap, docker or local.")]
_MB = 1_000_000


def install(
    names: _Names = None,
    everything: Annotated[bool, typer.Option("--all", help="All that can be installed here.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Install external harnesses from npm and PyPI, at the versions their adapters name. Nothing else ever does.

    Exit code 2 where one could not be installed; the others are installed all the same.
    """
    chosen = _chosen(names, everything, "install")
    if everything:
        chosen = [each for each in chosen if _can_install(each)]
    done, failed = [], []
    for external in chosen:
        try:
            done.append(_installed_now(external))
        except ConfigError as error:
            say(str(error))
            failed.append({"harness": external.name, "why": str(error)})
    if as_json:
        print_json({"folder": str(installing.externals_folder()), "installed": done, "failed": failed})
    raise typer.Exit(2 if failed else 0)


def uninstall(names: _Names = None, as_json: JsonFlag = False) -> None:
    """Remove installations of external harnesses."""
    chosen = _chosen(names, False, "uninstall")
    removed = [external.name for external in chosen if installing.uninstall(external)]
    if as_json:
        print_json({"removed": removed})
    for external in chosen:
        say(f"{external.name}: {'removed' if external.name in removed else 'was not installed'}")


def doctor(
    names: _Names = None,
    sandbox: _Sandbox = "auto",
    base_image: Annotated[str | None, typer.Option(help="What docker builds on.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Look which external harnesses are installed and work here, and why not: each plays a tiny fixed dialogue.

    Exit code 0 whenever it could look, whatever it found.
    """
    chosen = _chosen(names, not names, "doctor")
    before = locked.read_seen(locked.lock_file())
    boxes = provider(sandbox, **({"base_image": base_image} if base_image else {}))
    rows: list[dict[str, Json]] = []
    for external, found in zip(chosen, examined(chosen, boxes), strict=True):
        rows.append(_row(external, found, before))
    if as_json:
        print_json({"harnesses": rows})
        return
    keys = ("harness", "state", "version_found", "requests", "seconds", "note")
    columns = ("harness", "state", "version", "requests", "seconds", "what else")
    print_table(columns, ([row[key] or None for key in keys] for row in rows))


def lock_externals(names: Sequence[str]) -> list[Checkup]:
    """Look at these harnesses, and remember what the wire showed of them.

    Raises:
        ConfigError: one of them does not work here, or belongs to no lock.
    """
    foreign = [name for name in names if name not in named_externals()]
    if foreign:
        raise ConfigError(f"{foreign[0]}: the package's lock holds its own external harnesses")
    found = examined([load_external(name) for name in names], provider("auto"))
    bad = next((each for each in found if each.state not in ("works", "offers no tools")), None)
    if bad:
        raise ConfigError(f"{bad.name}: {bad.state}: {bad.why}; nothing was locked")
    locked.write_seen(locked.lock_file(), {each.name: each.seen for each in found if each.seen})
    return found


def examined(chosen: Sequence[External], boxes: SandboxProvider) -> list[Checkup]:
    """What was found of each, one after the other, since starting several at once would slow all of them."""
    from harness_eval.checkup import examine  # lazy: slow import

    async def look() -> list[Checkup]:
        found = []
        async with boxes:
            for external in chosen:
                found.append(replace(await examine(external, boxes), name=external.name))
                say(f"{external.name}: {found[-1].state}")
        return found

    return anyio.run(look)


def table_rows() -> list[tuple[str, str, str, str]]:
    """Name, version, id and a word on each external harness that travels with the package."""
    return [
        (each.name, each.version, each.id, f"external, {each.wire}: {each.about}")
        for each in map(load_external, named_externals())
    ]


def summary(external: External) -> dict[str, Json]:
    """An external harness for programs."""
    told = {"name": external.name, "version": external.version, "id": external.id, "about": external.about}
    where = {"kind": "external", "wire": external.wire, "licence": external.licence, "installed": _place(external)}
    return {**told, **where, "spec": external.spec()}


def print_shown(external: External) -> None:
    """An external harness as text."""
    print(f"{external.name}, version {external.version}, id {external.id}\n{external.about}\n")
    wanted = external.install
    packages = [f"{name} {version} (npm)" for name, version in wanted.npm.items()]
    packages += [f"{name} {version} (PyPI)" for name, version in wanted.pypi.items()]
    why_not = installing.cannot_install(external)
    rows = [
        ("wire", external.wire),
        ("licence", external.licence or None),
        ("installs", ", ".join(packages) or None),
        ("takes", f"about {wanted.size_mb} MB" if wanted.size_mb else None),
        ("installed", _place(external) or (f"no: {why_not}" if why_not else "no")),
        ("command", " ".join(external.launch.command)),
        *((f"variable {name}", value) for name, value in external.launch.env.items()),
        *((f"file {name}", text) for name, text in external.launch.files.items()),
    ]
    print_table(("what", "is"), rows)


def _chosen(names: Iterable[str] | None, everything: bool, command: str) -> list[External]:
    given = list(dict.fromkeys(names or ()))
    if given and everything and command != "doctor":
        raise ConfigError("--all: names all harnesses; leave the others out")
    if not given and not everything:
        raise ConfigError(f"harness {command}: name harnesses{', or --all' if command == 'install' else ''}")
    return [load_external(name) for name in given or named_externals()]


def _can_install(external: External) -> bool:
    reason = installing.cannot_install(external)
    if reason:
        say(f"{external.name}: left out: {reason}")
    return reason is None


def _installed_now(external: External) -> dict[str, Json]:
    about = f", about {external.install.size_mb} MB" if external.install.size_mb else ""
    say(f"{external.name}: version {external.version}{about} ...")
    made = installing.install(external)
    how = f"installed in {made.seconds:.0f} s" if made.new else "was installed already"
    say(f"{external.name}: {how}, {made.size / _MB:.0f} MB, {made.installed.folder}")
    told = {"harness": external.name, "version": external.version, "new": made.new, "bytes": made.size}
    return {**told, "seconds": round(made.seconds, 1), "folder": str(made.installed.folder or "")}


def _place(external: External) -> str:
    try:
        return str(installing.installed(external).folder or "")
    except ConfigError:
        return ""


def _row(external: External, found: Checkup, before: dict[str, locked.Seen]) -> dict[str, Json]:
    from harness_eval.checkup import as_json  # lazy: slow import

    known = external.name in named_externals()
    changed = list(locked.changes(before.get(external.name), found.seen)) if known and found.seen else []
    seen = found.seen
    shown = [f"{count(seen.tool_count, 'tool')}, system prompt of {seen.system_chars:,} characters"] if seen else []
    note = "; ".join(filter(None, [found.why, *changed, *(shown if found.state == "works" else [])]))
    return {**as_json(found), "version": external.version, "changes": changed, "note": note}
