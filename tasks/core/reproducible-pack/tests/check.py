"""Packs folders of its own with the solver's script, in different surroundings, and compares what comes out."""

import functools
import hashlib
import io
import os
import shlex
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from workspace import content, digest_of

SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))
GIVEN = {
    "EPOCH": "afb4d017d7e0e9a4e90d7f58fe7731c84014eca9bc9348319b0c58f9d3bdcc34",
    "PACKING.md": "621592fe801e82773a2136c0ea62ebc45c20d7d44dafa3e7f8147d65fdb7df36",
    "demo/.packignore": "4f6161a9f6d56795e4cee1d412f57cdb70c57f10435e43e37b20404f2c2f706e",
    "demo/README": "350d4ec10fe8966049ab4bbdb161975b05640dfd48dcd3be435ec5a713addda2",
    "demo/Zinc.txt": "35848616f7211be215a10f3921ec920688912f755cc63e8de1552fe27e6f6d75",
    "demo/build/kit.o": "743593b0177186eaa2eeb32ce8cd380a3f5a9025e08a3dda4c455156b8415b3e",
    "demo/docs/tides.tmp": "33e623c53d058beb8a114d77d3daf2a01fecf43dc046b127be206c37fcdf5362",
    "demo/docs/tides.txt": "10971024fd18bcb199d69d7c8284b9a569a2c5db33ced7fde75becff72b7851e",
    "demo/docs-more.txt": "5d8897f7ba3e54e7acfadc1199b25a13cabdd2f8ba25ffa4ba21e7e3ee02460d",
    "demo/tools/rake.conf": "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7",
    "demo/tools/rake.sh": "b3ecdbe46104e8fc46295904fd553e56cae0215138f73abe75638d08921b29b1",
}
DEMO = {
    "README": (b"A kit for the beach.\n", 0o644),
    "Zinc.txt": (b"Zinc.\n", 0o644),
    "docs-more.txt": (b"docs and more\n", 0o644),
    "docs/tides.txt": (b"tides\n", 0o644),
    "tools/rake.conf": (b"a\n", 0o644),
    "tools/rake.sh": (b"#!/bin/sh\necho rake\n", 0o755),
}
TREE = {
    "b/two.bin": (bytes(range(256)) * 3, 0o644),
    "b-one": (b"", 0o644),
    "b/.hidden": (b"h\r\n", 0o755),
    "b/deep/er/run": (b"run", 0o755),
    "Upper": (b"U", 0o644),
    "umlaut \u00e4.txt": (b"\xc3\xa4", 0o644),
    "\U0001f41f.txt": (b"fish", 0o644),
    "\uffed.txt": (b"square", 0o644),
    "_low": (b"_", 0o644),
    "keep.log": (b"kept: the pattern names a folder", 0o644),
    "Notes.TMP": (b"kept: the case counts", 0o644),
    "sub/keep.me": (b"kept: the pattern has no folder", 0o644),
    "b/.packignore": (b"only that of the folder itself counts", 0o644),
}
LEFT_OUT = {".packignore": "# all of these\n*.tmp\n\nlogs/*.log\nkeep.me\nb/deep/[xy]*\n", "a.tmp": "1"}
LEFT_OUT |= {"logs/1.log": "2", "logs/old/3.log": "3", "keep.me": "4", "b/deep/x1": "5", "b/deep/er.tmp": "6"}
PLAIN = {"one": (b"1\n", 0o755), "# two": (b"2\n", 0o644)}
EPOCH = 1711111111


def write_tree(folder: Path, *, backwards: bool) -> None:
    """The tree, its files written in one order or the other, with other times and needless permissions."""
    files = [*((name, data, mode) for name, (data, mode) in TREE.items())]
    files += [(name, data.encode(), 0o644) for name, data in LEFT_OUT.items()]
    for at, (name, data, mode) in enumerate(reversed(files) if backwards else files):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode | (0o022 if backwards else 0) | (0o011 if backwards and mode == 0o644 else 0))
        os.utime(path, (EPOCH + 977 * at * (2 if backwards else 1),) * 2)
    (folder / "link").symlink_to("Upper")
    (folder / "linked").symlink_to("b")


def surroundings(at: int) -> dict[str, str]:
    """The environment of a run."""
    zone, language = [("UTC", "C"), ("Asia/Tokyo", "C.UTF-8"), ("America/Lima", "en_US.UTF-8")][at % 3]
    own = {"PYTHONHASHSEED": str(at), "TZ": zone, "LC_ALL": language, "PYTHONUTF8": "1", "USER": f"u{at}"}
    return {**os.environ, **own}


def pack(place: Path, folder: str, out: str, at: int) -> bytes:
    """What the solver's script makes of a folder."""
    target = place / out
    limited = ["bash", "-c", 'ulimit -f 4096; exec "$@"', "-", *SOLVER, "python3", "-B"]
    command = [*limited, str(place / "bin" / "pack.py"), folder, str(target)]
    options = {"cwd": place, "env": surroundings(at), "umask": (0o022, 0o002)[at % 2]}
    with tempfile.TemporaryFile() as said:
        subprocess.run(command, **options, stdout=said, stderr=said, timeout=15, check=True)
    return content(target)


@functools.cache
def packed() -> list[bytes]:
    """The same tree packed again and again; then one without .packignore, once."""
    top = Path(tempfile.mkdtemp()).resolve()
    top.chmod(0o777)
    results = []
    for at, name in enumerate(("one", "another/place")):
        place = top / name
        write_tree(place / "kit", backwards=at == 1)
        for path, (data, mode) in PLAIN.items():
            (place / "plain").mkdir(exist_ok=True)
            (place / "plain" / path).write_bytes(data)
            (place / "plain" / path).chmod(mode)
        (place / "bin").mkdir()
        (place / "bin" / "pack.py").write_bytes(content("pack.py"))
        (place / "bin" / "EPOCH").write_text(f"{EPOCH}\n", encoding="utf-8")
        place.chmod(0o777)
        for run, folder in enumerate(("kit", str(place / "kit"))):
            results.append(pack(place, folder, f"out{at}{run}.tar.gz", 2 * at + run))
    return [*results, pack(place, "plain", "plain.tar.gz", 5)]


def unpacked(data: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    """The entries of an archive with their contents; of a few megabytes at most."""
    inflate = zlib.decompressobj(wbits=31)
    plain = inflate.decompress(data, 1 << 23)
    assert inflate.eof, "the archive is damaged or far too large"
    with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as archive:
        entries = archive.getmembers()
        files = [archive.extractfile(entry) if entry.isreg() else None for entry in entries]
        return [(entry, file.read() if file else b"") for entry, file in zip(entries, files, strict=True)]


def in_order(files: dict[str, tuple[bytes, int]]) -> list[str]:
    """The paths as they have to follow each other."""
    return sorted(files, key=str.encode)


def wanted_manifest(files: dict[str, tuple[bytes, int]]) -> bytes:
    """What MANIFEST has to say."""
    lines = [f"{hashlib.sha256(files[n][0]).hexdigest()} {len(files[n][0])} {n}\n" for n in in_order(files)]
    return "".join(lines).encode()


def holds_files(data: bytes, name: str, files: dict[str, tuple[bytes, int]]) -> None:
    """The right files in the right order, with the right contents."""
    entries = unpacked(data)
    found = [entry.name for entry, _ in entries]
    assert found == [f"{name}/MANIFEST", *(f"{name}/{path}" for path in in_order(files))], f"entries are {found}"
    for path, (_, held) in zip(in_order(files), entries[1:], strict=True):
        assert held == files[path][0], f"{path} has another content"


def holds_attributes(data: bytes, files: dict[str, tuple[bytes, int]], epoch: int) -> None:
    """Modes, owners and times of all entries, and the frame around them."""
    entries = unpacked(data)
    modes = [0o644, *(files[path][1] for path in in_order(files))]
    assert [entry.mode & 0o7777 for entry, _ in entries] == modes, "modes differ"
    owners = {(entry.uid, entry.gid, entry.uname, entry.gname) for entry, _ in entries}
    assert owners == {(0, 0, "", "")}, f"owners are {owners}"
    assert {entry.mtime for entry, _ in entries} == {epoch}, "times differ"
    assert data[3:8] == bytes(5), "the frame names a file or a time"


def same() -> None:
    """The same bytes in all surroundings, holding the right files."""
    kits = packed()[:4]
    assert len(set(kits)) == 1, f"{len(set(kits))} different archives of equal folders"
    holds_files(kits[0], "kit", TREE)


def attributes() -> None:
    """What is said of each entry."""
    holds_attributes(packed()[2], TREE, EPOCH)
    holds_attributes(packed()[4], PLAIN, EPOCH)


def manifest() -> None:
    """The list of what is packed, and a folder from which nothing is left out."""
    assert unpacked(packed()[3])[0][1] == wanted_manifest(TREE), "MANIFEST differs"
    assert unpacked(packed()[4])[0][1] == wanted_manifest(PLAIN), "MANIFEST of a small folder differs"
    holds_files(packed()[4], "plain", PLAIN)


def demo() -> None:
    """The archive that was asked for, and its digest."""
    data = content("dist/demo.tar.gz")
    holds_files(data, "demo", DEMO)
    holds_attributes(data, DEMO, 1924992000)
    assert unpacked(data)[0][1] == wanted_manifest(DEMO), "MANIFEST of demo differs"
    found, words = hashlib.sha256(data).hexdigest(), content("dist/demo.tar.gz.sha256").decode("utf-8").split()
    assert words in ([found, "demo.tar.gz"], [found, "*demo.tar.gz"]), f"the digest file says {words[:3]}"


def untouched() -> None:
    """The files that were given, by digest; no new ones."""
    for name, wanted in GIVEN.items():
        assert digest_of(name) == wanted, name
        executable = bool(os.lstat(name).st_mode & 0o100)
        assert executable == name.endswith(".sh"), f"{name} has another mode"
    found = {path.as_posix() for path in Path().rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}
    new = found - set(GIVEN) - {"pack.py", "dist/demo.tar.gz", "dist/demo.tar.gz.sha256"}
    assert not new, f"new: {sorted(new)[:5]}"


GOALS = (same, attributes, manifest, demo)
KEPT = (untouched,)


def holds(check: Callable[[], None]) -> bool:
    """Whether a check passes; whatever stands in its way is the solver's."""
    try:
        check()
    except (AssertionError, OSError, ValueError, LookupError, TypeError, tarfile.TarError, zlib.error) as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__} {problem}")[:300])
        return False
    except subprocess.SubprocessError as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__}"))
        return False
    return True


verdict = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
verdict.write_text("0\n", encoding="utf-8")
reached = [holds(check) for check in GOALS]
kept = [holds(check) for check in KEPT]
verdict.write_text(f"{sum(reached) / len(reached) * (0.5 if False in kept else 1.0):.4f}\n", encoding="utf-8")
