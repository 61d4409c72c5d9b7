"""A file of a repository brought up to date in place: nothing else in it changes, and nothing without a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_eval.errors import ConfigError
from harness_eval.report import update_compat
from harness_eval.report.compat_files import BEGIN, END
from tests.report import compatibility

TINY = compatibility.tiny()
AROUND = f"intro \t \n\n{BEGIN}\nold\n{END}\ntail without an end".encode()


def test_a_file_that_is_not_there_is_made_with_a_title_and_its_document(tmp_path: Path) -> None:
    path = tmp_path / "COMPATIBILITY.md"
    update_compat(TINY, path)
    assert path.read_text().startswith(f"# Compatibility\n\n{BEGIN}\n\n**2 models")
    assert path.read_text().endswith(f"\n\n{END}\n")
    assert json.loads((tmp_path / "COMPATIBILITY.json").read_text()) == TINY


def test_what_stands_around_the_markers_stays_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    before, after = b"\xff\xfe latin \xe9 \t \n\n", b"tail | `code` \x00 without an end"
    path.write_bytes(before + f"{BEGIN}\nold\n{END}\n".encode() + after)
    update_compat(TINY, path)
    text = path.read_bytes()
    assert text.startswith(before + BEGIN.encode())
    assert text.endswith(END.encode() + b"\n" + after)
    assert b"old" not in text
    assert (tmp_path / "README.json").is_file()


def test_a_second_time_changes_nothing_whenever_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "COMPATIBILITY.md"
    update_compat(TINY, path)
    found = [(one.read_bytes(), one.stat().st_mtime_ns) for one in (path, path.with_suffix(".json"))]
    update_compat(TINY | {"made": "2030-01-01T00:00:00+00:00"}, path)
    assert [(one.read_bytes(), one.stat().st_mtime_ns) for one in (path, path.with_suffix(".json"))] == found


def test_another_verdict_changes_both_files(tmp_path: Path) -> None:
    path = tmp_path / "COMPATIBILITY.md"
    update_compat(TINY, path)
    found = [one.read_bytes() for one in (path, path.with_suffix(".json"))]
    other = json.loads(json.dumps(TINY))
    other["cells"][2]["verdict"] = "degraded"
    update_compat(other, path)
    assert all(one.read_bytes() != old for one, old in zip((path, path.with_suffix(".json")), found, strict=True))


def test_ends_of_lines_stay_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "COMPATIBILITY.md"
    path.write_bytes(AROUND.replace(b"\n", b"\r\n"))
    update_compat(TINY, path)
    text = path.read_bytes()
    assert text.count(b"\n") == text.count(b"\r\n") > 20
    update_compat(TINY, path)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("# Ours\n", "has no place for the matrix"),
        (f"see `{BEGIN}` and `{END}`\n", "has no place for the matrix"),
        (f"{BEGIN}\n", "end --> is missing"),
        (f"{END}\n", "begin --> is missing"),
        (f"{END}\n{BEGIN}\n", "wrong order"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n", "begin --> stands there 2 times"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", "begin --> stands there 2 times"),
        (f"{BEGIN}\n{END}\n{END}\n", "end --> stands there 2 times"),
    ],
)
def test_a_file_without_sound_markers_is_refused_and_nothing_is_written(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "COMPATIBILITY.md"
    path.write_text(content)
    with pytest.raises(ConfigError, match=said) as refused:
        update_compat(TINY, path)
    assert BEGIN in str(refused.value)
    assert END in str(refused.value)
    assert "\n" not in str(refused.value)
    assert path.read_text() == content
    assert not path.with_suffix(".json").exists()


def test_a_name_that_is_a_marker_ends_no_block(tmp_path: Path) -> None:
    path = tmp_path / "COMPATIBILITY.md"
    for _ in range(2):
        update_compat(compatibility.hostile(), path)
    assert path.read_text().count(END) == path.read_text().count(BEGIN) == 1


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    path, real = tmp_path / "COMPATIBILITY.md", tmp_path / "real.md"
    real.write_bytes(AROUND)
    path.symlink_to(real)
    update_compat(TINY, path)
    assert path.is_symlink()
    assert b"Kimi-K3" in real.read_bytes()


@pytest.mark.parametrize("name", ["matrix.json", "folder"])
def test_what_is_no_markdown_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match=name):
        update_compat(TINY, tmp_path / name)


def test_markers_that_are_quoted_as_code_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "COMPATIBILITY.md"
    quoted = f"```\n{BEGIN}\n{END}\n```\n~~~~ md\n```\n{BEGIN}\n~~~~\n".encode()
    path.write_bytes(quoted + AROUND)
    update_compat(TINY, path)
    assert path.read_bytes().startswith(quoted + b"intro")
    assert b"old" not in path.read_bytes()
    path.write_bytes(quoted)
    with pytest.raises(ConfigError, match="has no place for the matrix"):
        update_compat(TINY, path)
