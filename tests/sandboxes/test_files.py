"""A folder that is handed over and put elsewhere is the same folder."""

# Names that are no UTF-8 are bytes here:
# ruff: noqa: PTH101, PTH102, PTH115, PTH208, PTH211

from __future__ import annotations

import errno
import os
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.sandboxes.inside.files import PIECE, put, tree

LIMIT = 64 << 20
NAME = st.binary(min_size=1, max_size=12).filter(lambda name: not set(name) & set(b"/\0") and name not in (b".", b".."))
TIME = st.integers(0, 2**32 * 10**9)
FILE = st.tuples(st.just("file"), st.sampled_from([0o644, 0o755, 0o400, 0o000, 0o4711]), TIME, st.binary(max_size=40))
LINK = st.tuples(st.just("link"), st.just(0o777), TIME, NAME)
LEAF = st.one_of(FILE, LINK)
FOLDER = st.recursive(LEAF, lambda inner: st.dictionaries(NAME, inner, max_size=4), max_leaves=12)


def build(place: bytes, content: object) -> None:
    if isinstance(content, Mapping):
        os.mkdir(place)
        for name, inner in content.items():
            build(place + b"/" + name, inner)
        os.utime(place, ns=(7, 10**18 + len(content)))
        os.chmod(place, [0o755, 0o700, 0o500, 0o1777, 0o000][len(content)])
        return
    kind, mode, changed, data = content  # type: ignore[misc]
    if kind == "link":
        os.symlink(data, place)
    else:
        Path(os.fsdecode(place)).write_bytes(data)
        os.chmod(place, mode)
    os.utime(place, ns=(changed, changed), follow_symlinks=False)


def described(folder: bytes) -> dict[bytes, tuple[object, ...]]:
    """All that is in a folder. What is closed is opened once its own mode is noted."""
    found: dict[bytes, tuple[object, ...]] = {}
    waiting = [b""]
    while waiting:
        name = waiting.pop()
        state = os.lstat(path := folder + name)
        found[name] = (stat.S_IFMT(state.st_mode), stat.S_IMODE(state.st_mode), state.st_mtime_ns)
        if stat.S_ISLNK(state.st_mode):
            found[name] += (os.readlink(path),)
            continue
        os.chmod(path, 0o700)
        if stat.S_ISDIR(state.st_mode):
            waiting += [name + b"/" + each for each in os.listdir(path)]
        else:
            found[name] += (Path(os.fsdecode(path)).read_bytes(),)
    return found


def copied(source: bytes, target: bytes, limit: int = LIMIT) -> None:
    for fields in tree(source, target, limit):
        for at in range(0, len(fields), 4):
            put(*fields[at : at + 4])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAME, FOLDER, max_size=4))
def test_a_copy_has_the_names_bytes_permissions_times_and_links_of_its_original(content: object) -> None:
    with tempfile.TemporaryDirectory() as place:
        source, target = os.fsencode(place) + b"/source", os.fsencode(place) + b"/target"
        build(source, content)
        copied(source, target)
        assert described(target) == described(source)


def test_the_original_is_as_closed_afterwards_as_before(tmp_path: Path) -> None:
    source, target = bytes(tmp_path / "source"), bytes(tmp_path / "target")
    build(source, {b"a": {}, b"b": ("file", 0o000, 5, b"x"), b"c": {b"d": ("file", 0o200, 5, b"y")}})
    os.chmod(source + b"/c", 0o000)
    before = {name: os.lstat(source + name).st_mode for name in (b"", b"/a", b"/b", b"/c")}
    copied(source, target)
    assert {name: os.lstat(source + name).st_mode for name in before} == before
    assert described(target)[b"/c/d"][-1] == b"y"


def test_long_files_come_in_pieces_and_a_reply_holds_little_more_than_one(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    data = os.urandom(3 * PIECE + 17)
    (tmp_path / "source" / "long").write_bytes(data)
    replies = list(tree(bytes(tmp_path / "source"), bytes(tmp_path / "target"), LIMIT))
    assert max(sum(map(len, fields)) for fields in replies) < 2 * PIECE
    copied(bytes(tmp_path / "source"), bytes(tmp_path / "target"))
    assert (tmp_path / "target" / "long").read_bytes() == data


def test_a_link_out_of_the_folder_is_not_followed_and_what_is_no_file_left_out(tmp_path: Path) -> None:
    source, outside = tmp_path / "source", tmp_path / "outside"
    source.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (source / "folder").symlink_to(outside)
    (source / "file").symlink_to(outside / "secret")
    os.mkfifo(source / "pipe")
    copied(bytes(source), bytes(tmp_path / "target"))
    assert sorted(os.listdir(tmp_path / "target")) == ["file", "folder"]
    assert os.readlink(tmp_path / "target" / "folder") == str(outside)


def test_two_names_of_one_file_become_two_files(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "one").write_text("same")
    (tmp_path / "source" / "two").hardlink_to(tmp_path / "source" / "one")
    copied(bytes(tmp_path / "source"), bytes(tmp_path / "target"))
    assert [(tmp_path / "target" / name).stat().st_nlink for name in ("one", "two")] == [1, 1]


def sparse(folder: Path) -> None:
    with (folder / "sparse").open("wb") as file:
        file.truncate(1 << 40)


def many(folder: Path) -> None:
    for number in range(300):
        (folder / str(number)).touch()


def linked(folder: Path) -> None:
    (folder / "one").write_bytes(bytes(600_000))
    (folder / "two").hardlink_to(folder / "one")


@pytest.mark.parametrize("fill", [sparse, many, linked])
def test_what_is_larger_than_the_limit_is_refused_before_it_is_read(tmp_path: Path, fill: object) -> None:
    fill(tmp_path)  # type: ignore[operator]
    with pytest.raises(OSError, match="larger than 1 MB") as raised:
        list(tree(bytes(tmp_path), b"/nowhere", 1 << 20))
    assert raised.value.errno == errno.EFBIG


def test_a_folder_too_deep_to_be_named_is_refused(tmp_path: Path) -> None:
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(tmp_path)
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.fchdir(here)
        os.close(here)
    with pytest.raises(OSError, match="too long") as raised:
        list(tree(bytes(tmp_path), b"/nowhere", LIMIT))
    assert raised.value.errno == errno.ENAMETOOLONG
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # pytest's own way recurses


def test_a_folder_that_is_missing_is_empty_and_one_that_is_none_is_refused(tmp_path: Path) -> None:
    assert list(tree(bytes(tmp_path / "missing"), b"/nowhere", LIMIT)) == []
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(NotADirectoryError):
        list(tree(bytes(tmp_path / "link"), b"/nowhere", LIMIT))
