"""A check as JUnit XML, as CI systems read it: a test case a question, and one a task of the gated harness.

A case is red only where the command's exit code is: what was lost, left out or not decided is skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from harness_eval.report import check_words as words
from harness_eval.report.wording import count

_ENDS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case; `ends` is the element that says how it ended, "" where it is green."""

    name: str
    ends: str
    kind: str
    said: str


def junit(data: words.Data) -> bytes:
    """The content of check.json as JUnit XML, as reports/schemas/junit.xsd describes it; times are not known."""
    questions = [_question(row, asked, data) for row, asked in zip(words.rows(data), data["questions"], strict=True)]
    suites = [("harness-eval.check", questions), ("harness-eval.tasks", _tasks(data))]
    root = ElementTree.Element("testsuites", name="harness-eval check")
    _number(root, [case for _, cases in suites for case in cases])
    for name, cases in suites:
        suite = ElementTree.SubElement(root, "testsuite", name=name)
        _number(suite, cases)
        if cases is questions:
            _describe(suite, data)
        _add(suite, name, cases)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _describe(suite: ElementTree.Element, data: words.Data) -> None:
    listed = ElementTree.SubElement(suite, "properties")
    for key, value in _properties(data):
        ElementTree.SubElement(listed, "property", name=key, value=value)


def _number(element: ElementTree.Element, cases: list[_Case]) -> None:
    element.set("tests", str(len(cases)))
    for ends, many in _ENDS.items():
        element.set(many, str(sum(case.ends == ends for case in cases)))


def _properties(data: words.Data) -> Iterable[tuple[str, str]]:
    after, found = data["after"], data["decision"]
    yield "verdict", data["verdict"]
    yield "exit_code", str(data["exit_code"])
    yield "said", words.sentence(data["said"])
    yield "gate", found["gate"] if found else "record"
    yield "harness", words.foreign(data["harness"])
    yield "model", words.foreign(after["model"])
    yield "endpoint", words.foreign(after["endpoint"])
    yield "baseline", words.foreign(data["before"]["name"])
    yield "run", words.foreign(after["name"])
    yield "tasks", str(after["tasks"])


def _add(suite: ElementTree.Element, group: str, cases: list[_Case]) -> None:
    """The cases of a suite; names that are the same once they are short are numbered, as CI systems merge them."""
    seen: Counter[str] = Counter()
    for case in cases:
        seen[case.name] += 1
        name = case.name or "without a name"
        name += f" ({seen[case.name]})" if seen[case.name] > 1 else ""
        element = ElementTree.SubElement(suite, "testcase", classname=group, name=name)
        if not case.ends:
            ElementTree.SubElement(element, "system-out").text = case.said
            continue
        # Some CI systems show the attribute, others the text.
        ended = ElementTree.SubElement(element, case.ends, message=case.said)
        ended.text = case.said
        if case.ends != "skipped":
            ended.set("type", case.kind)


def _question(row: words.Row, question: words.Data, data: words.Data) -> _Case:
    said = f"{row.said.rstrip('.')}. To decide it: {words.needed(data)}" if _undecided(question, data) else row.said
    ends = {"pass": "", "fail": "failure"}.get(question["verdict"], "skipped")
    if question["verdict"] == data["verdict"] and data["exit_code"]:
        ends = "error" if data["verdict"] == "incomplete" else "failure"
    return _Case(question["asked"], ends, question["verdict"], said)


def _undecided(question: words.Data, data: words.Data) -> bool:
    return question["asked"] == "canonical" and bool(words.needed(data))


def _tasks(data: words.Data) -> list[_Case]:
    """Every task of the gated harness, or those that a check names where it does not hold them all."""
    fell = any(row["asked"] == "canonical" and row["verdict"] == "fail" for row in data["questions"])
    red = {row["task"]: row for row in data["flipped"] if fell and row["chance"] >= words.LIKELY}
    aside = {row["task"]: row for row in data["quarantined"]}
    cases = []
    for row in data["tasks"] or data["flipped"]:
        task = row["task"]
        if task in aside:
            ends, said = "skipped", f"takes no part: {words.quarantined(aside[task])}"
        elif not row["after_trials"] or not row["before_trials"]:
            ends, said = "skipped", _unjudged(row)
        else:
            ends = "failure" if task in red else ""
            said = words.flip(red[task]) if ends else words.moved(row)
        cases.append(_Case(words.foreign(task, 200), ends, "regression", said))
    return cases


def _unjudged(row: words.Data) -> str:
    if not row["before_trials"]:
        return "no trial of the baseline was judged"
    lost = row.get("lost", 0)
    return f"{count(lost, 'trial')} lost, none judged" if lost else "not run: it was not needed, or is missing"
