"""Changes of harnesses as Markdown: complete where it fits, harmless whatever harnesses say, never too long."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from harness_eval.report.review import markdown

HOSTILE = "a|b`c`</summary><script>@all\x1b[31m\n## x" + "y" * 500


def _side(version: str = "1", wire: str = "0" * 64, **more: str) -> dict[str, str]:
    return {"version": version, "id": wire[:12], "wire": wire, **more}


def _changed(name: str, change: str = "changed without a new version", **more: Any) -> dict[str, Any]:
    lines = ["--- locked", "+++ now", "-a tool", "+another tool"]
    sides = {"before": _side(), "after": _side(wire="1" * 64)}
    return {"harness": name, "change": change, "lines": lines} | sides | more


def _changes(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"lock": "harnesses.lock", "harnesses": 3, "changes": list(changes), **more}


def _difference(shown: list[str], **more: Any) -> dict[str, Any]:
    differ = [{"axis": "truncation", "first": "middle", "second": "head(cap=5)"}]
    found = {"axes": ["truncation: middle -> head(cap=5)"], "system prompt": shown, "tools": [], "dialogue": shown}
    sides = {"before": _side(harness="ours"), "after": _side(wire="1" * 64, harness="ours")}
    return {"first": "0", "second": "1", "differ": differ, "lines": found} | sides | more


def test_a_difference_is_one_sentence_a_table_of_axes_and_a_diff_to_unfold_for_each_part() -> None:
    text = markdown(_difference(["-old words", "+new words"]))
    assert "1 axis differs; what models receive differs in system prompt and dialogue" in text
    assert "| `truncation` | `middle` | `head(cap=5)` |" in text
    assert re.findall("<summary>(.*)</summary>", text) == ["system prompt", "dialogue"]
    assert "```diff\n-old words\n+new words\n```" in text
    assert "0" * 64 in text
    assert "1" * 64 in text


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [("1", "1", "**The version was not raised**: both are `1`"), ("1", "2", "The version is another: `1` → `2`")],
)
def test_it_says_whether_the_version_was_raised(before: str, after: str, said: str) -> None:
    sides = {"before": _side(before, harness="ours"), "after": _side(after, "1" * 64, harness="ours")}
    assert said in markdown(_difference(["+x"], **sides))


def test_equal_harnesses_are_said_to_be_the_same() -> None:
    same = {"lines": {"axes": [], "dialogue": []}, "differ": [], "after": _side(harness="ours")}
    text = markdown(_difference([], **same))
    assert "the same harness" in text
    assert "<details>" not in text


def test_parameters_that_a_label_does_not_show_are_said_to_differ() -> None:
    differ = [{"axis": "toolset", "first": "custom(tools=...)", "second": "custom(tools=...)"}]
    assert "`custom(tools=...)`, other parameters" in markdown(_difference([], differ=differ)).replace("<code>", "`")


def test_what_changed_without_a_new_version_comes_first_and_says_what_to_do() -> None:
    text = markdown(_changes(_changed("new", "new", before=None, lines=[]), _changed("bad"), base="main"))
    assert text.startswith(
        "**2 harnesses changed**: 1 changed without a new version; 1 new (3 harnesses since `main`)."
    )
    assert "Raise `version`" in text
    assert text.index("`bad`") < text.index("`new`")
    assert "| `bad` | **changed without a new version** | `1` | `000000000000` → `111111111111` | +1 −1 |" in text


def test_nothing_changed_is_one_sentence() -> None:
    assert markdown(_changes(base="v1")) == "**What models receive has not changed**: 3 harnesses since `v1`.\n"
    assert "Raise" not in markdown(_changes(_changed("ours", "has a new version")))


def test_a_fence_is_longer_than_any_run_of_backticks_in_its_diff() -> None:
    text = markdown(_difference(["+```", "+`````python", "+</details>"]))
    for fence in re.findall(r"^(`{3,})diff$", text, re.MULTILINE):
        assert fence == "``````"


def test_a_long_diff_takes_the_room_that_short_ones_leave() -> None:
    changes = [_changed("long", lines=["+" + "x" * 99] * 400), *(_changed(f"short-{n}") for n in range(20))]
    assert "Cut here" not in markdown(_changes(*changes))


def test_names_and_lines_from_outside_break_nothing() -> None:
    text = markdown(
        _changes(_changed(HOSTILE, lines=["+\x1b[2J\u202ehidden", "+api_key=sk-12345678901234"]), base=HOSTILE)
    )
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.count(" | ") for row in rows} == {4}
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<script>" not in text
    assert "@all" not in text.replace(re.search("<summary>.*", text).group(), "")  # type: ignore[union-attr]
    assert "12345678901234" not in text


@pytest.mark.parametrize(
    "data",
    [
        _difference([f"+line {number} {'x' * 100}" for number in range(20_000)]),
        _difference(["+" + "`" * 5_000_000]),
        _changes(*(_changed(f"{number}{HOSTILE}", lines=["+words"] * 500) for number in range(300))),
    ],
    ids=["many lines", "a long line", "many harnesses"],
)
def test_it_always_fits_a_comment_and_says_what_was_cut(data: dict[str, Any]) -> None:
    text = markdown(data)
    assert len(text) < 60_000
    assert "Cut here: " in text or "…" in text
    assert text.count("<details>") == text.count("</details>")
    fences = re.findall(r"^`{3,}(?:diff)?$", text, re.MULTILINE)
    assert all(one == f"{other}diff" for other, one in pairwise(reversed(fences)) if one.endswith("diff"))
