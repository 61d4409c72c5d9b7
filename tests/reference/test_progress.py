from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.reference.progress import Progress, newest_progress

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
PLACES = st.builds(
    Progress,
    st.integers(1, 9),
    st.just(9),
    st.sampled_from(["", "again", "again twice", "narrower", "narrowest"]),
    st.dictionaries(NAMES, st.text(max_size=20), max_size=3),
    st.sampled_from(["acting", "next", "stopped"]),
)


@settings(max_examples=100, deadline=None)
@given(PLACES, st.sampled_from([": I look.", ". And so on.", ""]))
def test_a_place_is_read_as_it_was_written(place: Progress, after: str) -> None:
    assert newest_progress([f"Well. {place.line()}{after}"], 9) == place


@given(st.dictionaries(NAMES, st.text(max_size=20), max_size=3))
def test_the_end_of_a_plan_is_read_as_it_was_written(values: dict[str, str]) -> None:
    found = newest_progress([Progress(5, 4, values=values).line()], 4)
    assert found is not None
    assert (found.done, found.values) == (True, values)


def test_the_newest_text_counts_and_in_it_the_last_place() -> None:
    texts = ["Step 2 of 3: a. Then Next is step 3 of 3.", "Step 1 of 3: b."]
    assert newest_progress(texts, 3) == Progress(3, 3)


@pytest.mark.parametrize("text", ["Step 2 of 7: another plan", "2 steps so far", "Next is step two", ""])
def test_what_names_no_place_in_this_plan_is_passed_over(text: str) -> None:
    assert newest_progress([text, "Step 1 of 3: own"], 3) == Progress(1, 3, form="acting")
