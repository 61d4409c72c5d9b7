"""Tasks are proven before a run, once for their content, and a broken one is known before anything is spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.cache import cache_folder
from harness_eval.errors import ConfigError
from harness_eval.judging import Proof
from harness_eval.proving import require_proven
from harness_eval.readiness import check_all
from harness_eval.sandboxes import provider
from harness_eval.task import Task
from tests.doubles import Breaking, make_task

pytestmark = pytest.mark.anyio
NEVER = 'echo 0 > "$VERIFIER_DIR/reward.txt"\n'


class Seen(list[str]):
    """Notes the names of the tasks that were tried."""

    def __call__(self, task: Task, proof: Proof) -> None:
        self.append(f"{task.name} {proof.ok}")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


async def test_a_broken_task_refuses_the_run(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path / "suite", "good"), make_task(tmp_path / "suite", "bad", test_sh=NEVER)]
    with pytest.raises(ConfigError, match=r"local sandbox, so nothing was run: bad: score 0 after") as caught:
        await require_proven(tasks, provider("local"), Seen())
    assert "\n" not in str(caught.value)


async def test_a_task_is_proven_once_for_its_content_and_sandbox(tmp_path: Path) -> None:
    seen, breaking = Seen(), Breaking()
    task = make_task(tmp_path / "suite")
    await require_proven([task], breaking, seen)
    await require_proven([task], breaking, seen)
    assert (seen, breaking.opened) == (["say-hello True"], 2)
    changed = make_task(tmp_path / "suite", toml="# another content\n")
    await require_proven([changed], breaking, seen)
    await require_proven([changed], provider("local"), seen)
    assert len(seen) == 3


async def test_a_broken_task_is_tried_again_next_time(tmp_path: Path) -> None:
    seen = Seen()
    for _ in range(2):
        with pytest.raises(ConfigError):
            await require_proven([make_task(tmp_path / "suite", test_sh=NEVER)], provider("local"), seen)
    assert seen == ["say-hello False"] * 2


async def test_a_sandbox_that_breaks_while_proving_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no room for another box"):
        await require_proven([make_task(tmp_path / "suite")], Breaking(opening=3), Seen(), pause=0)


async def test_a_proof_that_is_lost_to_the_machine_is_tried_again_and_told_of_once(tmp_path: Path) -> None:
    seen, breaking = Seen(), Breaking(opening=2)
    tasks = [make_task(tmp_path / "suite", name) for name in ("a", "b")]
    await require_proven(tasks, breaking, seen, pause=0)
    assert (sorted(seen), breaking.opened) == (["a True", "b True"], 4)


async def test_what_cannot_be_fetched_is_not_tried_again(tmp_path: Path) -> None:
    breaking = Breaking(opening=1, saying="manifest for it not found")
    with pytest.raises(ConfigError, match="manifest for it not found"):
        await require_proven([make_task(tmp_path / "suite")], breaking, Seen(), pause=0)


async def test_proofs_come_in_the_order_of_their_tasks(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path / "suite", f"t{n}", **({"test_sh": NEVER} if n % 2 else {})) for n in range(6)]
    told: list[str] = []
    found = await check_all(tasks, provider("local"), 3, lambda each: told.append(each.task.name))
    assert [each.state for each in found] == ["ok", "broken"] * 3
    assert told == [task.name for task in tasks]


async def test_a_task_without_a_solution_is_taken_as_it_is(tmp_path: Path) -> None:
    seen, task = Seen(), make_task(tmp_path / "suite")
    (task.folder / "solution" / "solve.sh").unlink()
    assert await require_proven([task], provider("local"), seen) == (task,)
    assert seen == ["say-hello False"]


async def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    seen = Seen()
    await require_proven([make_task(tmp_path / "suite")], provider("local"), seen)
    assert cache_folder().is_relative_to(tmp_path / "file")
    assert seen == ["say-hello True"]
