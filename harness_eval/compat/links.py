"""Links from a document to the reports that its cells rest on."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from harness_eval.compat.targets import REPORT, Part
from harness_eval.report.anchors import endpoint_anchor, harness_anchor

_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|/", re.IGNORECASE)  # a colon of a file's name is quoted
_ANCHOR = re.compile(rb'id="(endpoint-[a-z0-9._-]{1,200})"')


@dataclass(frozen=True, slots=True)
class Links:
    """Where the document will be, and what stands before the names of runs' folders in place of the way there."""

    out: Path
    prefix: str | None = None
    known: dict[Path, frozenset[str]] = field(default_factory=dict)

    def report(self, part: Part) -> str | None:
        """To the report of a run; None where there is none."""
        folder = part.side.folder
        if not (folder / REPORT).is_file():
            return None
        if self.prefix is not None:
            return f"{self.prefix.rstrip('/')}/{quote(folder.resolve().name)}/{REPORT}"
        return quote(os.path.relpath(folder.resolve() / REPORT, self.out.resolve()))

    def evidence(self, parts: Sequence[Part], harness: str) -> str | None:
        """To a harness in the report of the newest of these runs that has one."""
        for part in sorted(parts, key=lambda each: each.order, reverse=True):
            if link := self.report(part):
                wanted = harness_anchor(part.place, harness), endpoint_anchor(part.place)
                there = self._anchors(part.side.folder / REPORT)
                return link + next((f"#{anchor}" for anchor in wanted if anchor in there), "")
        return None

    def _anchors(self, page: Path) -> frozenset[str]:
        """What a link can lead to in a report; one that an earlier version wrote has fewer."""
        if page not in self.known:
            found = _ANCHOR.findall(page.read_bytes())
            self.known[page] = frozenset(anchor.decode() for anchor in found)
        return self.known[page]

    def moved(self, link: str | None, folder: Path) -> str | None:
        """A link of a document in another folder, as it leads from here."""
        if link is None or _ABSOLUTE.match(link):
            return link
        path, mark, anchor = link.partition("#")
        return os.path.relpath(folder.resolve() / path, self.out.resolve()) + mark + anchor
