from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness_eval.keys import Keys
from harness_eval.types import TrialKey

KEYS = st.builds(TrialKey, st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("mn"), st.integers(0, 70))


@given(st.lists(KEYS), st.lists(KEYS))
def test_a_set_of_trials_holds_what_a_plain_set_does(added: list[TrialKey], asked: list[TrialKey]) -> None:
    found, plain = Keys(added), set(added)
    assert len(found) == len(plain)
    assert set(found) == plain
    assert found == Keys(reversed(added))
    assert [key in found for key in asked] == [key in plain for key in asked]
    assert set(found & set(asked)) == plain & set(asked)
