"""Packs a folder: python3 pack.py FOLDER OUT.tar.gz. See PACKING.md."""

import fnmatch
import gzip
import hashlib
import io
import os
import sys
import tarfile
from pathlib import Path

EPOCH = int((Path(__file__).parent / "EPOCH").read_text())


def patterns(folder):
    """What .packignore leaves out."""
    path = folder / ".packignore"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


def chosen(folder):
    """The paths of the files to pack, in order."""
    ignored = patterns(folder)
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            file = Path(place) / name
            path = file.relative_to(folder).as_posix()
            if file.is_symlink() or not file.is_file() or path == ".packignore":
                continue
            if not any(fnmatch.fnmatchcase(path, pattern) for pattern in ignored):
                found.append(path)
    return sorted(found, key=os.fsencode)


def manifest(folder, paths):
    """The text of MANIFEST."""
    lines = []
    for path in paths:
        data = (folder / path).read_bytes()
        lines.append(f"{hashlib.sha256(data).hexdigest()} {len(data)} {path}\n")
    return "".join(lines)


def add(archive, name, data, mode):
    """Put one entry into the archive."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(data), mode, EPOCH
    archive.addfile(entry, io.BytesIO(data))


def main(source, target):
    """Write the archive."""
    folder = Path(source)
    paths = chosen(folder)
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        add(archive, f"{folder.name}/MANIFEST", manifest(folder, paths).encode(), 0o644)
        for path in paths:
            executable = (folder / path).stat().st_mode & 0o100
            add(archive, f"{folder.name}/{path}", (folder / path).read_bytes(), 0o755 if executable else 0o644)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as out, gzip.GzipFile("", "wb", fileobj=out, mtime=0) as frame:
        frame.write(plain.getvalue())
    print(f"packed {len(paths)} files into {target}")


main(*sys.argv[1:])
