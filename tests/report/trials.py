"""A run's folder of trials made by hand, or played through the fixed dialogue, for tests of what tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import anyio

from harness_eval import recording, store
from harness_eval.agent import run_agent
from harness_eval.dialogue import _FULL, _Canned, _Script
from harness_eval.harness import Harness, make_harness
from harness_eval.types import (
    Action,
    Limits,
    Observation,
    Result,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
    TrialKey,
    Usage,
    Verdict,
)

PHRASING = {"b", "span", "q", "code", "a"}
_BLOCKS = "article header section details summary div p pre ul ol li dl dt dd"
KNOWN = {*PHRASING, *_BLOCKS.split()}
ATTRIBUTES = {"class", "open", "href", "id", "tabindex", "aria-label"}


@cache
def harness(name: str = "canonical", **levels: str) -> Harness:
    return make_harness({"name": name, **levels}, "here")


def study_of(*harnesses: Harness, canonical: str | None = "canonical") -> dict[str, object]:
    entries = [{"name": h.name, "id": h.id, "labels": h.labels, "spec": h.spec()} for h in harnesses]
    return {"name": "made", "canonical": canonical, "harnesses": entries, "planned": 99}


def step(action: Action, *shown: str | Observation, **more: object) -> Step:
    seen = tuple(each if isinstance(each, Observation) else Observation(each, len(each)) for each in shown)
    return Step(action, seen, Usage(100, 10), 0.5, **more)


def does(tool: str, shown: str | Observation = "ok", **arguments: object) -> Step:
    return step(Action("", None, (ToolCall("c", tool, arguments),)), shown)


def says(text: str) -> Step:
    return step(Action(text))


def record(*events: object) -> Trajectory:
    return Trajectory("You are an agent.", "Do it.", tuple(events), StopReason.FINISHED)


def run_folder(
    folder: Path, records: Mapping[str, Trajectory], *harnesses: Harness, extra: Mapping[str, object] | None = None
) -> dict[str, store.Row]:
    """A run of one task; the rows by harness."""
    with store.open_run(folder, study_of(*harnesses)) as run:
        for number, (name, trajectory) in enumerate(records.items()):
            verdict = Verdict(1.0 if number == 0 else 0.0, "as it was left")
            run.append(Result(TrialKey("fix", name, "ref"), "id", verdict, trajectory=trajectory, extra=extra or {}))
    return {row["harness"]: row for row in store.latest(folder)}


def played(given: Harness) -> Trajectory:
    """What is read back of a dialogue that met everything the harness words."""

    async def play() -> Trajectory:
        limits = Limits(steps=30, tokens=10 * _FULL)
        return await run_agent(given, "Do it.", _Canned(), _Script(given, "I think."), limits=limits, seed=0)

    return recording.unpack(recording.pack(TrialKey("t", "h", "e"), anyio.run(play), {}))


class Checked(HTMLParser):
    """Reads a fragment as strictly as nobody else: known tags and attributes only, each closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        assert "p" not in self.open or tag in PHRASING, f"{tag} inside of a paragraph"
        assert all(value == "#divergence" for name, value in attrs if name == "href")
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    @property
    def text(self) -> str:
        return "".join(self.said)
