"""Nothing that an agent leaves decides over its own verdict, in any kind of sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval.errors import TaskFailure
from harness_eval.judging import judge, prove, verify
from harness_eval.proving import require_proven
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import Task
from harness_eval.types import Verdict
from tests.doubles import TEST_SH, OwnJudge, make_task, needs_a_service
from tests.sandboxes.conftest import ISOLATED, KINDS, boxes, mark, seen

__all__ = ["boxes", "mark", "seen"]  # fixtures

pytestmark = [pytest.mark.anyio]
EVERY_KIND = pytest.mark.parametrize("boxes", KINDS, indirect=True, scope="module")
APART = pytest.mark.parametrize(
    "boxes", ISOLATED, indirect=True, scope="module"
)  # where a verifier and the solver's code can be kept apart
BUBBLEWRAP = pytest.mark.parametrize("boxes", ISOLATED[:1], indirect=True, scope="module")
CHECKED = 'exec python3 -I "$(dirname "$0")/check.py"\n'
CHECK = """import json, os, shlex, subprocess
solver = shlex.split(os.environ["AS_SOLVER"])
answer = open("answer.txt").read() if os.path.exists("answer.txt") else ""
json.dump({"reward": float(answer == "hello\\n")}, open(os.environ["VERIFIER_DIR"] + "/reward.json", "w"))
"""
FORGED = """mkdir -p {root}/tests
echo 1 | tee {root}/logs/verifier/reward.txt > {root}/logs/verifier/reward.json
echo 'echo 1 > "$VERIFIER_DIR/reward.json"' > {root}/tests/test.sh
"""


async def judged(task: Task, provider: SandboxProvider, *commands: str) -> Verdict:
    """The verdict after an agent has run these commands; `{root}` stands for what is before `/tests` in its box."""
    async with provider.open(task.spec) as box:
        for command in commands:
            await box.run(command.replace("{root}", box.root), timeout=20)
        return await judge(task, box, provider)


def checked(folder: Path, check: str = CHECK, toml: str = "") -> Task:
    """A task whose verifier is this program."""
    task = make_task(folder, test_sh=CHECKED, toml=toml)
    (task.folder / "tests" / "check.py").write_text(check)
    return task


@EVERY_KIND
async def test_what_goes_on_forging_in_the_background_never_changes_the_verdict(
    tmp_path: Path, boxes: SandboxProvider
) -> None:
    task = make_task(tmp_path, test_sh=f"sleep 0.05\n{TEST_SH}")
    async with boxes.open(task.spec) as box:
        await box.write("forge.sh", f"while true; do\n{FORGED}done\n".replace("{root}", box.root).encode())
        for _ in range(20 if boxes.name == "bubblewrap" else 3):
            await box.run("setsid bash forge.sh > /dev/null 2>&1 & sleep 0.02")
            assert (await judge(task, box, boxes)).score == 0


PLANTED = {
    "a reward": FORGED,
    "modules that Python loads by itself": """
        forge='import os; open(os.environ["VERIFIER_DIR"] + "/reward.json", "w").write("1"); os._exit(0)'
        mkdir -p ~/.local/lib/python3.{11,12,13}/site-packages
        for place in . ~/.local/lib/python3.*/site-packages; do
          for name in sitecustomize usercustomize json os shlex subprocess; do echo "$forge" > $place/$name.py; done
        done""",
    "start files of the shell": """
        echo 'echo 1 > $VERIFIER_DIR/reward.json; exit' | tee .bashrc ~/.bashrc ~/.profile ~/.bash_profile ~/.bash_env
        export BASH_ENV=~/.bash_env; echo "export BASH_ENV=$BASH_ENV" >> ~/.bashrc""",
    "programs of the same names": """
        for folder in . bin ~/bin ~/.local/bin {root}/tests; do mkdir -p $folder
          for name in python3 bash dirname find mkdir; do
            printf '#!/bin/sh\\necho 1 > "$VERIFIER_DIR/reward.json"\\n' > $folder/$name; chmod +x $folder/$name
          done
        done; PATH=.:bin:$PATH""",
    "links where the verifier writes": """
        rm -rf {root}/logs/verifier {root}/tests; echo 1 > reward.json; ln -s "$PWD" {root}/logs/verifier
        ln -s "$PWD" {root}/tests""",
    "links to where the verifier is": """
        ln -s {root}/tests tests; ln -s {root}/logs/verifier logs; ln -s {root}/tests/check.py answer.txt""",
    "a file instead of the logs": "rm -rf {root}/logs; touch {root}/logs",
    "a closed folder": "mkdir -p {root}/tests/a; chmod 0 {root}/tests/a {root}/logs/verifier .",
}


@EVERY_KIND
@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED.keys())
async def test_what_is_planted_makes_no_wrong_answer_right_and_no_right_one_wrong(
    tmp_path: Path, boxes: SandboxProvider, planted: str
) -> None:
    task = checked(tmp_path)
    assert (await judged(task, boxes, planted)).score == 0
    solved = await judged(task, boxes, "echo hello > answer.txt", planted)
    assert solved.score == 1 or "answer.txt" in planted


# The solver's code, run by a verifier

RUNS_IT = """import os, pathlib, shlex, subprocess
solver = shlex.split(os.environ["AS_SOLVER"])
assert solver
pathlib.Path(__file__).with_name("secret").write_text("swordfish")
subprocess.run([*solver, "bash", "attack.sh"], timeout=20)
for command in (["bash", "-lc", "true"], ["python3", "-c", "pass"]):
    subprocess.run(command, check=True, cwd=os.environ["HOME"])
left = subprocess.run(["pgrep", "-f", "^sleep MARK"]).returncode == 0
loot = pathlib.Path("loot").read_text() if pathlib.Path("loot").exists() else ""
print(f"left {left}, loot {loot!r}")
pathlib.Path(os.environ["VERIFIER_DIR"], "reward.txt").write_text("0.25")
"""
ATTACKS = {
    "writes the reward": 'mkdir -p /logs/verifier "$VERIFIER_DIR"; echo 1 | tee "$VERIFIER_DIR/reward.json"',
    "reads the tests": """
        cat /tests/* /proc/*/root/tests/* /proc/*/cwd/../tests/* > loot; grep -rs swordfish /tests /logs >> loot""",
    "kills the verifier": "kill -9 -1; kill -9 $PPID",
    "traces the verifier": """python3 -c '
import ctypes, os
with open("loot", "w") as loot:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if "check.py" in open(f"/proc/{pid}/cmdline").read() and ctypes.CDLL(None).ptrace(16, int(pid), 0, 0) == 0:
            loot.write("traced")'""",
    "plants what the verifier's programs load": """
        mkdir -p ~/.local/lib/python3.{11,12,13}/site-packages
        for place in ~/.bash_profile ~/.profile ~/.local/lib/python3.*/site-packages/usercustomize.py; do
          echo 'exit(3)' > $place; done; echo 'exit 3' > ~/.bash_profile""",
    "becomes root of a namespace": "unshare -Urm sh -c 'umount /tests; umount -l /logs; cat /tests/secret > loot'",
}


BESIDE = {  # what only a namespace of its own keeps from the solver's code
    "looks at processes": "cat /proc/[0-9]*/cmdline | grep -ao 'check[.]py' > loot; ls /tests >> loot",
    "goes on after its end": "(setsid sleep MARK &); nohup sleep MARK & disown; exit 0",
}


@APART
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_the_solvers_code_reaches_neither_the_reward_nor_the_verifier_nor_its_tests(
    tmp_path: Path, boxes: SandboxProvider, attack: str, mark: str
) -> None:
    await attacked(tmp_path, boxes, attack, mark)


@BUBBLEWRAP
@pytest.mark.parametrize("attack", BESIDE.values(), ids=BESIDE.keys())
async def test_in_bubblewrap_the_solvers_code_sees_no_process_but_its_own_and_ends_with_its_command(
    tmp_path: Path, boxes: SandboxProvider, attack: str, mark: str
) -> None:
    await attacked(tmp_path, boxes, attack, mark)


async def attacked(folder: Path, boxes: SandboxProvider, attack: str, mark: str) -> None:
    task = checked(folder, RUNS_IT.replace("MARK", mark), "[verifier]\ntimeout_sec = 20\n")
    attack = attack.replace("MARK", mark)
    verdict = await judged(task, boxes, f"cat > attack.sh <<'END'\n{attack}\nEND\n")
    assert (verdict.score, verdict.detail.splitlines()[-1]) == (0.25, "left False, loot ''")


USES_IT = """import os, pathlib, shlex, subprocess, sys, tempfile, time, urllib.request
solver = shlex.split(os.environ["AS_SOLVER"])
folder = tempfile.mkdtemp()
os.chmod(folder, 0o777)
for place in (folder, os.getcwd()):
    ran = subprocess.run([*solver, "bash", "-c", "cat; pwd; echo wrong >&2; exit 7"], input="in\\n", cwd=place,
                         text=True, capture_output=True)
    assert ran.stdout == f"in\\n{place}\\n" and "wrong" in ran.stderr and ran.returncode == 7, ran
try:
    subprocess.run([*solver, "sleep", "MARK"], timeout=0.3)
    raise AssertionError("no time-out")
except subprocess.TimeoutExpired:
    time.sleep(0.1)
assert subprocess.run(["pgrep", "-f", "^sleep MARK"]).returncode == 1
service = [*solver, "python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]
with subprocess.Popen(service, stdout=subprocess.PIPE, text=True) as running:
    port = running.stdout.readline().split("port ")[1].split()[0]
    said = urllib.request.urlopen(f"http://127.0.0.1:{port}/answer.txt", timeout=10).read()
    running.kill()
pathlib.Path(os.environ["VERIFIER_DIR"], "reward.txt").write_text(str(int(said == b"hello\\n")))
"""


@EVERY_KIND
async def test_a_verifier_talks_to_the_solvers_code_as_to_any_program(
    tmp_path: Path, boxes: SandboxProvider, mark: str
) -> None:
    task = checked(tmp_path, USES_IT.replace("MARK", mark))
    verdict = await judged(task, boxes, "echo hello > answer.txt")
    assert verdict.solved, verdict.detail


# What is judged


@EVERY_KIND
async def test_the_verifier_finds_the_files_as_they_were_left(tmp_path: Path, boxes: SandboxProvider) -> None:
    shows = (
        "stat -c '%n %a %s %Y' a b; readlink link; cat .hidden/* deep/er/closed; echo 1 > $VERIFIER_DIR/reward.txt\n"
    )
    left = """head -c 3000000 /dev/zero > a; touch -d @1000000001.5 a; mkdir -p b deep/er .hidden; echo one > .hidden/x
        echo two > deep/er/closed; chmod 600 deep/er/closed; chmod 755 a; ln -s a link; mkfifo pipe; chmod 700 b
        touch -d @1000000002 b"""
    verdict = await judged(make_task(tmp_path, test_sh=shows), boxes, left)
    size = verdict.detail.splitlines()[1].split()[2]
    assert verdict.detail == f"a 755 3000000 1000000001\nb 700 {size} 1000000002\na\none\ntwo"


@EVERY_KIND
@pytest.mark.parametrize("left", ["truncate -s 1T sparse", "seq 3000 | xargs touch", "head -c 9000000 /dev/zero > big"])
async def test_more_than_the_disk_may_hold_is_a_zero_that_says_so(
    tmp_path: Path, boxes: SandboxProvider, left: str
) -> None:
    task = make_task(tmp_path, toml="storage_mb = 8\n")
    verdict = await judged(task, boxes, "echo hello > answer.txt", left)
    assert verdict.score == 0
    assert "larger than 8 MB" in verdict.detail


# A verifier that fails

HANGS = f"if [ -e hang ]; then echo so far; sleep 60; fi\n{TEST_SH}"
CRASHES = f"if [ -e hang ]; then echo so far; exit 1; fi\n{TEST_SH}"
HURRY = "[verifier]\ntimeout_sec = 0.5\n"


@EVERY_KIND
@pytest.mark.parametrize("test_sh", [HANGS, CRASHES])
async def test_what_hangs_or_crashes_the_verifier_is_a_zero_where_the_solution_does_not(
    tmp_path: Path, boxes: SandboxProvider, test_sh: str
) -> None:
    verdict = await judged(make_task(tmp_path, test_sh=test_sh, toml=HURRY), boxes, "touch hang")
    assert verdict.score == 0
    assert "so far" in verdict.detail
    assert "without it the verifier works" in verdict.detail


@pytest.mark.parametrize("test_sh", ["sleep 60", "exit 1"])
async def test_a_verifier_that_fails_on_the_solution_too_is_a_failure_of_the_task(tmp_path: Path, test_sh: str) -> None:
    with pytest.raises(TaskFailure, match=r"longer than 0\.5 s|neither reward"):
        await judged(make_task(tmp_path, test_sh=test_sh, toml=HURRY), LocalProvider())


async def test_a_verifier_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    once = f"[ -e {tmp_path}/before ] || {{ touch {tmp_path}/before; exit 1; }}\n{TEST_SH}"
    assert (await judged(make_task(tmp_path, test_sh=once), LocalProvider(), "echo hello > answer.txt")).solved


@EVERY_KIND
async def test_what_the_verifier_leaves_running_is_ended_with_it(
    tmp_path: Path, boxes: SandboxProvider, mark: str, seen: Callable[..., list[str]]
) -> None:
    task = make_task(tmp_path, test_sh=f"echo 0 > $VERIFIER_DIR/reward.txt; (setsid sleep {mark} &)\n")
    async with boxes.open(task.spec) as box, boxes.seal(box, task.spec) as sealed:
        await verify(task, sealed)
        assert seen(mark) == []


@EVERY_KIND
@pytest.mark.parametrize(
    "test_sh",
    [
        "echo 1 > elsewhere; ln -s $PWD/elsewhere $VERIFIER_DIR/reward.txt",
        "echo 1 > reward.txt; rmdir $VERIFIER_DIR; ln -s $PWD $VERIFIER_DIR",
    ],
)
async def test_a_link_is_no_reward(tmp_path: Path, boxes: SandboxProvider, test_sh: str) -> None:
    task = make_task(tmp_path, test_sh=test_sh + "\n")
    async with boxes.open(task.spec) as box, boxes.seal(box, task.spec) as sealed:
        with pytest.raises(TaskFailure, match="is a link"):
            await verify(task, sealed)


# Services that the tests need


async def test_a_task_that_needs_the_service_of_its_solution_is_proven_and_judged_with_it_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    task, told = needs_a_service(tmp_path, mark), []
    (proven,) = await require_proven([task], OwnJudge(), lambda _, proof: told.append(proof))
    assert proven.live
    assert (told[0].ok, told[0].live) == (True, True)
    assert "processes that were left" in told[0].detail
    (remembered,) = await require_proven([task], OwnJudge(), lambda _, proof: told.append(proof))
    assert (remembered.live, len(told)) == (True, 1)
    assert (await judged(remembered, OwnJudge(), f"setsid sleep {mark} &")).solved
    assert not (await judged(remembered, OwnJudge(), "true")).solved


async def test_where_a_box_is_judged_by_another_no_service_reaches_it(tmp_path: Path, mark: str) -> None:
    proof = await prove(needs_a_service(tmp_path, mark), LocalProvider())
    assert (proof.ok, proof.live) == (False, False)
