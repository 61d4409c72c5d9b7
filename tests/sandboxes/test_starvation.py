"""Memory that no process holds: what takes all of it costs an agent its work, never the trial its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.judging import judge
from tests.doubles import make_task
from tests.sandboxes.conftest import ISOLATED, SHELL, make

pytestmark = pytest.mark.anyio
SMALL = "memory_mb = 128\nstorage_mb = 64\n"
SEGMENTS = r"""cat > a.py <<'P'
import ctypes, sys
c = ctypes.CDLL(None)
c.shmat.restype = ctypes.c_void_p
for i in range(4000):
    segment = c.shmget(0, int(sys.argv[1]), 0o1600)
    if segment < 0: break
    place = c.shmat(segment, None, 0)
    ctypes.memset(place, 1, int(sys.argv[1]))
    c.shmdt(ctypes.c_void_p(place))
P
for size in 1048576 65536 4096; do for i in 1 2 3; do python3 a.py $size; done; done
while :; do : ; head -c 4096 /dev/zero >> /dev/shm/x || break; done
"""
PAGES = "for i in 1 2 3 4 5 6; do (while :; do printf '%04096d' 0 >> /dev/shm/y || break; done); done"
LAST = """exec dash -c 'while :; do printf "%04096d" 0 >> /dev/shm/z || break; done'"""  # by a small process


@pytest.mark.parametrize("kind", ISOLATED)
async def test_memory_taken_by_segments_and_files_makes_no_lost_trial(tmp_path: Path, kind: str) -> None:
    task, provider = make_task(tmp_path, toml=SMALL), make(kind)
    async with provider.open(task.spec) as box:
        await box.run("head -c 3000000 /dev/urandom > big", timeout=30)
        for command in (SEGMENTS, *[PAGES] * 6, "echo next", "echo x > note; echo again"):
            await box.run(command, timeout=30)
        assert (await judge(task, box, provider)).score == 0


@pytest.mark.docker
async def test_work_in_a_box_without_any_memory_left_is_judged_all_the_same(tmp_path: Path) -> None:
    task, provider = make_task(tmp_path, toml=SMALL), make("docker")
    async with provider.open(task.spec) as box:
        for command in ("echo hello > answer.txt; head -c 3000000 /dev/urandom > big", SEGMENTS, LAST, LAST):
            await box.run(command, timeout=30)
        assert (await judge(task, box, provider)).solved


@pytest.mark.parametrize("kind", [*ISOLATED, SHELL])
async def test_a_box_whose_first_process_died_for_want_of_memory_says_so_and_is_no_failure(
    tmp_path: Path, kind: str
) -> None:
    task, provider = make_task(tmp_path, toml=SMALL), make(kind)
    async with provider.open(task.spec) as box:
        await box.run(SEGMENTS, timeout=30)
        for _ in range(40):
            ran = await box.run(PAGES, timeout=30)
            if "all the memory of the box" in ran.output:
                break
        else:
            pytest.skip("it has lived through all of it")
        assert ran.exit_code == 137
        with pytest.raises(OSError, match="all the memory of the box"):
            await box.read("readme.txt")
        with pytest.raises(OSError, match="all the memory of the box"):
            await box.write("x", b"x")
        verdict = await judge(task, box, provider)
        assert (verdict.score, "all the memory of the box" in verdict.detail) == (0, True)


RUNS_IT = """solver=$AS_SOLVER
echo 0.25 > "$VERIFIER_DIR/reward.txt"
$solver bash attack.sh
for i in 1 2 3 4 5 6; do $solver bash pages.sh; done
exit 0
"""


@pytest.mark.parametrize("kind", ISOLATED)
async def test_solvers_code_that_takes_all_memory_of_the_judging_box_makes_no_lost_trial(
    tmp_path: Path, kind: str
) -> None:
    test_sh = f"[ -e attack.sh ] || {{ echo 1 > $VERIFIER_DIR/reward.txt; exit; }}\n{RUNS_IT}"
    task, provider = make_task(tmp_path, test_sh=test_sh, toml=SMALL), make(kind)
    async with provider.open(task.spec) as box:
        await box.write("attack.sh", SEGMENTS.encode())
        await box.write("pages.sh", PAGES.encode())
        assert (await judge(task, box, provider)).score <= 0.25
