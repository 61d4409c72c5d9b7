"""The parts of the measurement of what a turn costs; the peers themselves are not installed here."""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

import pytest

from benchmarks.overhead.__main__ import PROGRAMS, counted, endpoint, measure, microseconds, milliseconds, pythons_of
from benchmarks.overhead.environments import LEAST, Skipped, installed, interpreters, last_words
from benchmarks.overhead.page import Measured, demands, page

OURS, PLAIN, INSPECT, *_ = (PROGRAMS[0], PROGRAMS[1], *(each for each in PROGRAMS if each.peer))


def measured(ours: float, inspect: float | None = 9.0, mini: float | None = 5.0) -> Measured:
    found = {"harness-eval": [ours, ours * 1.5], "Inspect AI": [inspect, inspect], "mini-swe-agent": [mini, mini]}
    turns = {name: [value for value in values if value] for name, values in found.items() if values[0]}
    chunks = {("chunks", "typed"): [60.0], ("chunks", "ours"): [3.0]}
    chunks |= {("apart", "typed"): [180.0], ("apart", "ours"): [20.0]}
    return Measured(turns, dict.fromkeys(turns, ("1.0", "3.12.1")), {"Harbor": "no Python"}, chunks, 17, 2, 2, (1, 2))


def pretended(folder: Path, version: str, fails: bool = False) -> Path:
    """A Python of this version, as far as it is asked, whose virtual environments cannot be made."""
    python = folder / version / "bin" / "python"
    python.parent.mkdir(parents=True)
    told = f"({version.replace('.', ', ')})|$0"
    failing = "echo 'ERROR: nothing at https://packages.invalid/simple for it' >&2; exit 1"
    python.write_text(f'#!/bin/bash\n[ "$1" = -c ] && echo "{told}" && exit {int(fails)}\n{failing}\n')
    python.chmod(0o755)
    return python


def test_the_endpoint_our_runner_and_a_stream_are_measured() -> None:
    with endpoint() as root:
        assert milliseconds(OURS, sys.executable, root, 1) > 0
        requests, received = counted(root)
        assert requests == 50  # four trials to warm up, and the one
        assert received > 50 * 10_000
        assert microseconds(f"{root}/apart", "ours", chunks=20, replies=1) > 0


def test_every_dialect_of_the_endpoint_ends_after_ten_turns() -> None:
    body = {"model": "scripted", "messages": [{"role": "assistant", "content": "x"}] * 9}
    with endpoint() as root:
        said = {}
        for path in sorted({program.path for program in PROGRAMS}):
            request = urllib.request.Request(f"{root}{path}/chat/completions", json.dumps(body).encode())
            with urllib.request.urlopen(request) as response:
                said[path] = json.load(response)["choices"][0]["message"]
    assert said["/v1"]["content"].endswith("All is done.")
    assert json.loads(said["/harbor/v1"]["content"])["task_complete"] is True
    assert said["/mini/v1"]["tool_calls"]  # its agent ends with a command


def test_pythons_are_looked_for_where_pyenv_keeps_them(tmp_path: Path) -> None:
    named = pretended(tmp_path / "named", "3.99.1")
    for version in ("3.98.0", "3.97.2", "3.6.15"):
        pretended(tmp_path / "pyenv", version)
    pretended(tmp_path / "pyenv", "3.96.0", fails=True)
    found = interpreters([str(named), str(tmp_path / "absent")], tmp_path / "pyenv")
    assert found[0] == ((3, 99, 1), str(named))
    assert [each.version for each in found[-2:]] == [(3, 97, 2), (3, 98, 0)]
    assert all(each.version >= LEAST for each in found)


def test_a_peer_without_a_python_or_an_installation_says_why(tmp_path: Path) -> None:
    with pytest.raises(Skipped, match=r"needs Python 3\.12 or newer, and none was found"):
        installed("peer", tmp_path / "peer", [])
    candidates = interpreters([str(pretended(tmp_path, "3.99.1"))], tmp_path / "none")[:1]
    with pytest.raises(Skipped, match=r"on Python 3\.99\.1: ERROR: nothing at \(address\) for it"):
        installed("peer", tmp_path / "peer", candidates)


def test_a_peer_that_is_installed_is_not_installed_again(tmp_path: Path) -> None:
    python = pretended(tmp_path, "3.99.1")
    folder = python.parents[1].rename(tmp_path / INSPECT.package)
    (folder / "complete").touch()
    assert pythons_of([INSPECT], tmp_path, [], {}) == {INSPECT: str(folder / "bin" / "python")}


def test_what_does_not_run_is_skipped_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.overhead.__main__.microseconds", lambda *_: 1.0)
    skipped: dict[str, str] = {}
    found = measure({INSPECT: sys.executable, PLAIN: sys.executable}, (1, 1), skipped)
    assert list(found.turns) == [PLAIN.name]
    assert "Inspect AI" in skipped
    assert last_words("Traceback\nKeyError: 'x'\n[notice] new pip at http://a.invalid/b\n") == "KeyError: 'x'"


def test_the_page_says_what_holds_and_what_was_skipped() -> None:
    text = page(measured(0.5))
    assert "Harbor was skipped: no Python." in text
    assert "| **harness-eval** | 1.0 | 3.12.1 | 0.62 | 0.50 to 0.75 | 1.0 |" in text
    assert [demand.holds for demand in demands(measured(0.5))] == [True, True, True, True, False]
    assert [demand.holds for demand in demands(measured(2.0, None, None))] == [False, None, None, True, False]
