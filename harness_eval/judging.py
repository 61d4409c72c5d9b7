"""Judging what an agent left, in a box that the agent cannot reach; and the proof that a task can judge at all."""

from __future__ import annotations

import json
import shlex
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, replace

from harness_eval.errors import SandboxFailure, TaskFailure, last_words
from harness_eval.sandboxes.base import Executed, Sandbox, SandboxProvider, UnfitState
from harness_eval.sandboxes.secrecy import told
from harness_eval.task import Task
from harness_eval.types import Json, Verdict

_SOLUTION_TIMEOUT = 600.0  # seconds, where the task sets no limit for the agent
_EVERYWHERE = {"PATH", "HOME", "LANG"}  # variables without which programs do not run as elsewhere
_ALIVE = "judged beside the processes that were left, since its solution leaves a service that the tests need"


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a task can judge: untouched it must not be solved, after its solution it must be.

    A verdict is None where there is none; `detail` says why `ok` is False, or what is weaker about the proof. `live`
    says that the task can only be judged with the agent's processes alive, see `Task.live`.
    """

    untouched: Verdict | None
    solved: Verdict | None
    ok: bool
    detail: str
    live: bool = False


async def judge(task: Task, box: Sandbox, provider: SandboxProvider) -> Verdict:
    """What the task's verifier says of what is in the box; it runs where nothing that ran in the box can reach it.

    A verifier that takes too long or leaves no reward is tried once more. If it fails again, although it accepts the
    task's own solution here and now (or judges an untouched box, where there is none), then what the agent left is the
    cause, and the score is 0. So a model cannot turn a zero into a lost trial by leaving what hangs or crashes a
    verifier, and what the machine or the task is to blame for, which the solution meets too, does not become a zero.

    Raises:
        TaskFailure: the verifier failed, and does so without the agent too.
        SandboxFailure: a box is broken.
    """
    try:
        with suppress(TaskFailure):
            return await _judged(task, box, provider)
        return await _judged(task, box, provider)
    except TaskFailure as failure:
        if not await _judges(task, provider):
            raise
        return Verdict(
            0.0, f"what the agent left behind cannot be judged, and without it the verifier works: {failure}"
        )


async def _judges(task: Task, provider: SandboxProvider) -> bool:
    """Whether the verifier does its work here and now, without an agent."""
    if task.has_solution:
        return (await _prove_solution(task, provider)).ok
    with suppress(TaskFailure):
        async with provider.open(task.spec) as box:
            return not (await _judged(task, box, provider)).solved
    return False


async def _judged(task: Task, box: Sandbox, provider: SandboxProvider) -> Verdict:
    """One attempt; the same errors as `verify`."""
    try:
        async with _sealed(task, box, provider) as sealed:
            return await verify(task, sealed)
    except UnfitState as error:
        return Verdict(0.0, f"what the agent left behind cannot be judged: {error}")


def _sealed(task: Task, box: Sandbox, provider: SandboxProvider) -> AbstractAsyncContextManager[Sandbox]:
    return nullcontext(box) if task.live else provider.seal(box, task.spec)


async def verify(task: Task, sandbox: Sandbox) -> Verdict:
    """Run the task's verifier in the box as it is; the reward decides, never test.sh's exit code.

    What the verifier leaves running is ended before the reward is read, which must be a plain file.

    Raises:
        TaskFailure: it could not be brought in, took too long, or left no reward that is a number in 0..1; with its
            last output.
        SandboxFailure: the box is broken.
    """
    logs = f"{sandbox.root}/logs/verifier"
    await _bring_in(task, sandbox, logs)
    ran = await sandbox.run(
        f"bash {shlex.quote(sandbox.root)}/tests/test.sh",
        timeout=task.verifier_timeout,
        env={"VERIFIER_DIR": logs, "AS_SOLVER": _as_solver(task, sandbox), **task.verifier_env},
    )
    try:
        if not task.live:
            await sandbox.end_processes()
    except UnfitState as error:
        raise TaskFailure(f"{task.name}: in the verifier's box {error}") from error
    output = _tail(task, ran.output)
    if ran.timed_out:
        raise TaskFailure(f"{task.name}: the verifier took longer than {task.verifier_timeout:g} s; {_said(output)}")
    try:
        return Verdict(await _score(sandbox, logs), output)
    except ValueError as error:
        raise TaskFailure(f"{task.name}: {error}; {_said(output)}") from error


def _as_solver(task: Task, sandbox: Sandbox) -> str:
    """`Sandbox.as_solver` behind which the verifier's own variables are gone, and the task's are what the agent saw."""
    if not sandbox.as_solver:
        return ""
    own = {"VERIFIER_DIR", "AS_SOLVER", *task.verifier_env} - _EVERYWHERE
    unset = [word for name in sorted(own - task.spec.env.keys()) for word in ("-u", name)]
    again = [f"{name}={task.spec.env[name]}" for name in sorted(own & task.spec.env.keys())]
    return f"{shlex.join(['env', *unset, *again])} {sandbox.as_solver}"


async def _bring_in(task: Task, sandbox: Sandbox, logs: str) -> None:
    """Bring the verifier into the box, where nothing that was left in its places may be taken for a part of it."""
    tests = f"{sandbox.root}/tests"
    try:
        prepared = await sandbox.run(_fresh_folders(sandbox.workdir, logs, tests), cwd=sandbox.root or "/")
        if prepared.exit_code != 0:
            raise TaskFailure(f"{task.name}: its verifier cannot be brought in: {_tail(task, prepared.output)}")
        await sandbox.upload(task.folder / "tests", "/tests")
    except OSError as error:
        raise TaskFailure(f"{task.name}: its verifier cannot be brought in: {error.strerror or error}") from error


async def remove_verifier(sandbox: Sandbox) -> None:
    """Take what `verify` put into the box, if it ran there, out of it, so that an agent can go on in it.

    Raises:
        SandboxFailure: it cannot be removed.
    """
    tests = f"{sandbox.root}/tests"
    command = _fresh_folders(sandbox.workdir, f"{sandbox.root}/logs/verifier", tests)
    place = shlex.quote(tests)
    done = await sandbox.run(
        f"[ -e {place}/test.sh ] || exit 0\n{command}\nrmdir {place} || true", cwd=sandbox.root or "/"
    )
    if done.exit_code != 0:
        raise SandboxFailure(f"the verifier cannot be removed: {last_words(done.output)}")


def _fresh_folders(workdir: str, logs: str, tests: str) -> str:
    """A command that empties the verifier's folders and gives access to the working directory back.

    The folders themselves are removed, links and hidden files included, where the box's user may; else what is in them.
    """
    names = [shlex.quote(folder) for folder in (logs, tests)]
    lines = ["set -e", f"chmod u+rwx {shlex.quote(workdir)} 2>/dev/null || true"]
    for name in names:
        lines.append(f"[ -L {name} ] && rm -f {name}; [ ! -d {name} ] || chmod -R u+rwX {name} 2>/dev/null || true")
        lines.append(f"[ ! -e {name} ] || [ -d {name} ] || rm -f {name}")
    both = " ".join(names)
    return "\n".join([*lines, f"mkdir -p {both}", f"find {both} -mindepth 1 -delete"])


async def _score(sandbox: Sandbox, logs: str) -> float:
    """The reward in 0..1.

    Raises:
        ValueError: there is none, it is no such number, or a link stands in its place.
    """
    files = [f"{logs}/{name}" for name in ("reward.json", "reward.txt")]
    links = " || ".join(f"[ -L {shlex.quote(place)} ]" for place in (logs, *files))
    if (await sandbox.run(links, cwd=sandbox.root or "/")).exit_code != 1:
        raise ValueError("the reward is a link")
    for name, parse in (("reward.json", _reward_of_json), ("reward.txt", _reward_of_text)):
        try:
            text = (await sandbox.read(f"{logs}/{name}")).decode("utf-8")
            return parse(text)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError) as error:
            raise ValueError(f"{name}: {str(error)[:200] or type(error).__name__}") from error
    raise ValueError("the verifier wrote neither reward.json nor reward.txt")


def _reward_of_text(text: str) -> float:
    return _number(float(text) if text.strip() else None)


def _reward_of_json(text: str) -> float:
    reward = json.loads(text) if text.strip() else None
    if not isinstance(reward, dict):
        return _number(reward)
    if "reward" in reward:
        return _number(reward["reward"])
    if not reward:
        raise ValueError("no number in an empty object")
    return sum(_number(value) for value in reward.values()) / len(reward)


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("no number is in it" if value is None else f"{str(value)[:80]!r} is no number in 0..1")
    return float(value)


async def prove(task: Task, provider: SandboxProvider) -> Proof:
    """Judge the task in two fresh boxes: untouched, and after its own solution; each once, so that a crash shows.

    A solution that is not accepted where a box is its own judge is tried once more with its processes left alive.

    Raises:
        SandboxFailure: a box cannot be made or breaks; a task that fails gives a Proof that is not `ok`.
    """
    if task.unsupported is not None:
        return Proof(None, None, False, f"cannot run here: {task.unsupported}")
    try:
        async with provider.open(task.spec) as box, _sealed(task, box, provider) as sealed:
            own_judge = sealed.own_judge
            untouched = await verify(task, sealed)
    except (TaskFailure, UnfitState) as failure:
        return Proof(None, None, False, str(failure))
    if untouched.solved:
        return Proof(untouched, None, False, f"solved before anything was done; {_said(untouched.detail)}")
    proof = await _prove_solution(task, provider)
    if not proof.ok and own_judge and not task.live:
        alive = await _prove_solution(replace(task, live=True), provider)
        proof = alive if alive.ok else proof
    return replace(proof, untouched=untouched)


async def _prove_solution(task: Task, provider: SandboxProvider) -> Proof:
    """The half of a proof that is about the solution."""
    if not task.has_solution:
        return Proof(None, None, False, "there is no solution/solve.sh to prove it with")
    try:
        async with provider.open(task.spec) as box:
            ran = await _solve(task, box)
            solved = await _judged(task, box, provider)
    except TaskFailure as failure:
        return Proof(None, None, False, str(failure))
    if not solved.solved:
        return Proof(None, solved, False, _unsolved(task, ran, solved))
    return Proof(None, solved, True, _ALIVE if task.live else "", task.live)


async def _solve(task: Task, sandbox: Sandbox) -> Executed:
    try:
        await sandbox.upload(task.folder / "solution", "/solution")
    except OSError as error:
        raise TaskFailure(f"{task.name}: its solution cannot be brought in: {error.strerror or error}") from error
    return await sandbox.run(
        f"bash {shlex.quote(sandbox.root + '/solution/solve.sh')}",
        timeout=task.agent_timeout or _SOLUTION_TIMEOUT,
        env=task.solution_env,
    )


def _unsolved(task: Task, ran: Executed, verdict: Verdict) -> str:
    ended = "was stopped at its time limit" if ran.timed_out else f"ended with exit code {ran.exit_code}"
    solution = _tail(task, ran.output)
    return f"score {verdict.score:g} after solve.sh, which {ended} ({_said(solution)}); verifier: {verdict.detail}"


def _tail(task: Task, output: str) -> str:
    """The end of what a program printed, without what may be credentials of the host."""
    return told(output, task.spec.env, task.verifier_env, task.solution_env)


def _said(output: str) -> str:
    return f"last output: {output}" if output else "it printed nothing"
