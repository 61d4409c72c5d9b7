"""Makes site/ from the pages."""

import hashlib
import os
import sys
from pathlib import Path

SITE = Path("site")


def main():
    """Check the surroundings, then write."""
    umask = os.umask(0o077)
    os.umask(umask)
    settings = [os.environ.get(f"PUBLISH_{name}", "") for name in ("FROM", "EDITION", "SIGN")]
    if SITE.exists():
        print("publish: site/ is there already, nothing was done")
        return 1
    if not all(settings):
        print("publish: refused: the settings are not exported")
        return 1
    if umask != 0o027:
        print(f"publish: refused: the umask is {umask:03o}")
        return 1
    source, edition, sign = settings
    names = sorted(path.relative_to(source) for path in Path(source).rglob("*.txt"))
    seal = hashlib.sha256(f"{edition} {sign} {umask:o}".encode()).hexdigest()[:12]
    for name in names:
        page = SITE / name.with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        text = (Path(source) / name).read_text(encoding="utf-8")
        lines = "".join(f"<p>{line}</p>\n" for line in text.splitlines())
        page.write_text(f"<!-- {edition} {seal} -->\n{lines}", encoding="utf-8")
    print(f"published {len(names)} pages as {edition}, sealed {seal}")
    return 0


sys.exit(main())
