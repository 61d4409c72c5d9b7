"""No value of a task's variables, which may be a credential of the host, is told to anybody."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from harness_eval.errors import TaskFailure
from harness_eval.judging import judge, prove
from harness_eval.sandboxes.base import BoxSpec, Healthcheck
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.sandboxes.secrecy import told, without_values
from harness_eval.task import load_task
from tests.doubles import make_task
from tests.sandboxes.conftest import KINDS, make

pytestmark = pytest.mark.anyio
SECRET = "zq7hunter2-CANARY-9981"
HOST = "[environment.env]\nPLAIN = '${CANARY_OF_TESTS}'\n[verifier]\nenv = {JUDGE = '${CANARY_OF_TESTS}'}\n"
HOST += "[solution]\nenv = {SOLVE = '${CANARY_OF_TESTS}'}\n"


def test_a_value_is_hidden_plain_and_in_base64_whatever_follows_it() -> None:
    for follows in ("", "\n", "\nmore"):
        encoded = base64.b64encode((SECRET + follows).encode()).decode()
        assert SECRET not in without_values(f"is {SECRET}, {encoded}", {"X": SECRET})
        assert encoded[:20] not in without_values(f"is {SECRET}, {encoded}", {"X": SECRET})


def test_short_values_are_hidden_where_the_name_says_that_they_are_secret() -> None:
    env = {"DB_PASSWORD": "pw12", "MODE": "fast", "PIN_KEY": "123"}
    assert without_values("pw12 fast 123", env) == "[redacted] fast 123"


def test_of_two_values_the_longer_is_hidden_first() -> None:
    assert without_values("abcdefgh-ijklmnop", {"A": "abcdefgh", "B": "abcdefgh-ijklmnop"}) == "[redacted]"


def test_a_value_at_the_cut_is_hidden_all_the_same() -> None:
    assert told(f"before {SECRET}", {"X": SECRET}, most=len(SECRET) - 2) == "before [redacted]"[-len(SECRET) + 2 :]


@pytest.mark.parametrize("setup", ["echo $PLAIN; exit 3\n", None])
async def test_neither_setup_nor_health_check_tells_a_value(tmp_path: Path, setup: str | None) -> None:
    if setup:
        (tmp_path / "setup.sh").write_text(setup)
    check = Healthcheck("echo $PLAIN; exit 1", retries=1)
    spec = BoxSpec("canary", environment=tmp_path, env={"PLAIN": SECRET}, healthcheck=check)
    with pytest.raises(TaskFailure, match=r"(?s)last output: \[redacted\]"):
        async with LocalProvider().open(spec):
            pytest.fail("it opened")


@pytest.mark.parametrize(
    "test_sh", ["echo $PLAIN $JUDGE\n", 'echo $PLAIN $JUDGE; echo 0 > "$VERIFIER_DIR/reward.txt"\n']
)
async def test_neither_a_verdict_nor_a_proof_tells_a_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test_sh: str
) -> None:
    monkeypatch.setenv("CANARY_OF_TESTS", SECRET)
    task = make_task(tmp_path, test_sh=test_sh, toml=HOST)
    (task.folder / "solution" / "solve.sh").write_text("echo $SOLVE $PLAIN; exit 1\n")
    proof = await prove(load_task(task.folder), LocalProvider())
    assert not proof.ok
    assert SECRET not in f"{proof}"
    assert "[redacted]" in f"{proof}"


SHOWS = """$AS_SOLVER bash -c 'env; tr "\\0" "\\n" < /proc/$PPID/environ' > seen 2> /dev/null
grep -E 'JUDGE|VERIFIER_DIR|AS_SOLVER' seen
$AS_SOLVER bash -c 'echo "$PLAIN $LEVEL"'
echo 1 > "$VERIFIER_DIR/reward.txt"
"""


@pytest.mark.parametrize("kind", KINDS[1:])
async def test_the_solvers_code_has_the_agents_variables_and_none_of_the_verifiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("CANARY_OF_TESTS", SECRET)
    toml = "env = {PLAIN = 'agents', LEVEL = '7'}\n[verifier]\nenv = {JUDGE = '${CANARY_OF_TESTS}', LEVEL = '8'}\n"
    task, provider = make_task(tmp_path, test_sh=SHOWS, toml=toml), make(kind)
    async with provider.open(task.spec) as box:
        verdict = await judge(task, box, provider)
    assert (verdict.score, verdict.detail) == (1, "agents 7")
