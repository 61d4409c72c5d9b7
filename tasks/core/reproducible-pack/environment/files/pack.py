"""Packs a folder: python3 pack.py FOLDER OUT.tar.gz. See PACKING.md."""

import fnmatch
import hashlib
import io
import os
import sys
import tarfile
import time
from pathlib import Path

EPOCH = int((Path(__file__).parent / "EPOCH").read_text())


def patterns(folder):
    """What .packignore leaves out."""
    path = folder / ".packignore"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


def chosen(folder):
    """The paths of the files to pack."""
    ignored = patterns(folder)
    found = set()
    for place, _, names in os.walk(folder, followlinks=True):
        for name in names:
            path = (Path(place) / name).relative_to(folder).as_posix()
            if not any(fnmatch.fnmatch(name, pattern) for pattern in ignored):
                found.add(path)
    return found


def manifest(folder, paths):
    """The text of MANIFEST."""
    lines = [f"# packed {time.ctime()} by {os.environ.get('USER', 'nobody')}"]
    for path in paths:
        data = (folder / path).read_bytes()
        lines.append(f"{hashlib.sha256(data).hexdigest()} {len(data)} {path}")
    return "\n".join(lines)


def main(source, target):
    """Write the archive."""
    folder = Path(source)
    paths = chosen(folder)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:gz") as archive:
        text = manifest(folder, paths).encode()
        entry = tarfile.TarInfo(f"{folder.name}/MANIFEST")
        entry.size = len(text)
        entry.mtime = time.time()
        archive.addfile(entry, io.BytesIO(text))
        for path in paths:
            archive.add(folder / path, f"{folder.name}/{path}")
    print(f"packed {len(paths)} files into {target}")


main(*sys.argv[1:])
