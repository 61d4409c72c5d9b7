"""The lock: what models receive is remembered, and no change of it goes unseen."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from harness_eval import bundled
from harness_eval.dialogue import requests_of, wire_text
from harness_eval.errors import ConfigError
from harness_eval.harness import Harness, canonical, load_harness, make_harness, named_harnesses
from harness_eval.lock import check_lock, differences, entry_of, read_lock, write_lock
from tests.axes.strategies import harnesses

NAMES = list(named_harnesses())


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(Path(named_harnesses()["goose-like"]).read_text())
    return path


def _edited(path: Path, old: str, new: str) -> Harness:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return load_harness(path)


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_wire_of_every_preset_is_what_it_sends_now(name: str) -> None:
    snapshot = bundled.folder("harnesses") / "wire" / f"{name}.txt"
    assert snapshot.read_text(encoding="utf-8") == wire_text(requests_of(load_harness(name)))


def test_the_committed_lock_fits_every_bundled_harness() -> None:
    harnesses = [load_harness(name) for name in NAMES]
    assert check_lock(bundled.folder("harnesses") / "harnesses.lock", harnesses) == []


def test_one_character_of_a_tool_description_is_found_and_shown(tmp_path: Path, mine: Path) -> None:
    lock = tmp_path / "harnesses.lock"
    write_lock(lock, [load_harness(mine)])
    changed = _edited(mine, "Write a whole file.", "Write a whole file!")
    (change,) = check_lock(lock, [changed])
    assert not change.allowed
    assert any(line.startswith("+") and "Write a whole file!" in line for line in change.lines)


def test_a_new_version_allows_a_change(tmp_path: Path, mine: Path) -> None:
    lock = tmp_path / "harnesses.lock"
    write_lock(lock, [load_harness(mine)])
    _edited(mine, "Write a whole file.", "Write all of a file.")
    (change,) = check_lock(lock, [_edited(mine, "version: '1'", "version: '2'")])
    assert change.allowed
    assert change.kind == "has a new version"


def test_a_harness_that_is_new_or_gone_is_named(tmp_path: Path, mine: Path) -> None:
    lock = tmp_path / "harnesses.lock"
    write_lock(lock, [canonical()])
    kinds = {change.name: change.kind for change in check_lock(lock, [load_harness(mine)])}
    assert kinds == {"mine": "not locked yet", "canonical": "locked, but gone"}


def test_writing_a_lock_removes_the_wire_of_a_harness_that_is_gone(tmp_path: Path, mine: Path) -> None:
    lock = tmp_path / "harnesses.lock"
    write_lock(lock, [canonical(), load_harness(mine)])
    write_lock(lock, [canonical()])
    assert [path.name for path in (tmp_path / "wire").iterdir()] == ["canonical.txt"]
    assert set(read_lock(lock)) == {"canonical"}


def test_a_file_that_is_no_lock_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "harnesses.lock"
    lock.write_text(yaml.safe_dump({"harneses": {}}))
    with pytest.raises(ConfigError, match="did you mean 'harnesses'"):
        read_lock(lock)


@pytest.mark.parametrize(
    ("axis", "level"),
    [
        ("truncation", {"level": "middle", "cap": 29_999}),
        ("context", {"level": "summary", "inject": "handoff"}),
        ("context", {"level": "clear-results", "keep": 2}),
        ("thinking", "drop"),
        ("planning", {"level": "reflect", "every": 2}),
        ("stopping", "submit-tool"),
        ("results", "xml-envelope"),
        ("errors", "terse"),
        ("prompt", {"level": "reminders", "every": 2}),
        ("distractors", "few"),
        ("protocol", "native-single"),
        ("protocol", "json-text"),
        ("shell", "cwd-kept"),
        ("faults", "incompatible-schema"),
    ],
)
def test_the_dialogue_meets_what_a_level_changes(axis: str, level: object) -> None:
    changed = make_harness({"name": "changed", axis: level}, "changed")
    assert entry_of(changed)[0].wire != entry_of(canonical())[0].wire


def test_two_presets_of_different_harnesses_differ_in_tools_and_in_what_is_kept() -> None:
    family = {"mini-swe": 3, "terminus": 2, "openhands": 2}
    presets = [load_harness(name) for name in NAMES]
    for place, one in enumerate(presets):
        for other in presets[place + 1 :]:
            if any(one.name.startswith(stem) and other.name.startswith(stem) for stem in family):
                continue
            assert one.tools != other.tools, (one.name, other.name)
            axes = ("truncation", "context", "stopping")
            assert any(one.levels[a] != other.levels[a] for a in axes), (one.name, other.name)


def test_differences_name_axes_prompt_and_tools() -> None:
    found = differences(canonical(), load_harness("pi-like"))
    assert "toolset: shell-and-editor -> path-old-text" in found["axes"]
    assert any("oldText" in line for line in found["tools"])


@settings(max_examples=60, deadline=None)
@given(harness=harnesses())
def test_the_dialogue_can_be_held_with_every_harness_and_ends_by_itself(harness: Harness) -> None:
    requests = requests_of(harness)
    assert 5 < len(requests) < 30
    assert wire_text(requests)
    assert requests_of(harness) == requests


def test_locking_some_harnesses_keeps_the_others(tmp_path: Path, mine: Path) -> None:
    lock = tmp_path / "harnesses.lock"
    write_lock(lock, [canonical()])
    assert write_lock(lock, [load_harness(mine)], whole=False) == 2
    assert set(read_lock(lock)) == {"canonical", "mine"}
    assert check_lock(lock, [load_harness(mine)], whole=False) == []
    assert (tmp_path / "wire" / "canonical.txt").exists()
