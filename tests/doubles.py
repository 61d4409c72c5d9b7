"""What trials meet in tests: a task of one file, an endpoint that follows a script, machines that break on demand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio

from harness_eval.agent import run_agent
from harness_eval.endpoints.base import Endpoint
from harness_eval.harness import Harness
from harness_eval.judging import verify
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import Task, load_task
from harness_eval.types import Limits, RawCall, Reply, Request, StopReason, Trajectory, Usage, Verdict

TEST_SH = """#!/bin/bash
if [ "$(cat answer.txt 2>/dev/null)" = hello ]; then echo 1; else echo 0; fi > "$VERIFIER_DIR/reward.txt"
"""


def make_task(suite: Path, name: str = "say-hello", test_sh: str = TEST_SH, toml: str = "") -> Task:
    """A task whose answer is the word hello in answer.txt."""
    files = {
        "task.toml": 'schema_version = "1.4"\n[environment]\nnetwork_mode = "no-network"\n' + toml,
        "instruction.md": f"Work on {name}: write the word hello into answer.txt.\n",
        "environment/files/readme.txt": "Nothing to see.\n",
        "tests/test.sh": test_sh,
        "solution/solve.sh": "#!/bin/bash\necho hello > answer.txt\n",
        "solution/plan.yaml": PLAN,
    }
    for relative, content in files.items():
        path = suite / name / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return load_task(suite / name)


async def played(endpoint: Endpoint, harness: Harness, task: Task) -> tuple[Trajectory, Verdict]:
    """One task under one harness in a real box, judged: it must be solved, and the agent must have ended by itself."""
    async with provider("local").open(task.spec) as box:
        record = await run_agent(harness, task.instruction, box, endpoint, limits=Limits(), seed=1)
        verdict = await verify(task, box)
    said = [step.action.text for step in record.steps]
    assert (verdict.solved, record.stop) == (True, StopReason.FINISHED), (harness.labels, verdict.detail, said)
    return record, verdict


PLAN = """done: "The word is written."
steps:
  - {say: "I look around.", run: "cat readme.txt", learn: {word: "(Nothing) to see"}}
  - {say: "I write it.", create: {path: "answer.txt", text: "hello\\n"}}
  - {say: "I check.", run: "cat answer.txt; echo ${word}"}
"""


def bash(command: str) -> Reply:
    """A reply that runs a command."""
    call = RawCall("c1", "bash", json.dumps({"command": command}))
    return Reply("", calls=(call,), finish_reason="tool_calls", usage=Usage(100, 10))


def solve(request: Request) -> Reply:
    """What a model that can do `make_task`'s task answers."""
    if any(message["role"] == "tool" for message in request.messages):
        return Reply("Done.", finish_reason="stop", usage=Usage(120, 5))
    return bash("echo hello > answer.txt")


class Scripted(Endpoint):
    """An endpoint in the same process; its script gets each request and returns a reply or an exception to raise.

    It answers nobody before `together` requests are under way at once.
    """

    def __init__(
        self, script: Callable[[Request], Reply | Exception] = solve, name: str = "scripted", together: int = 1
    ) -> None:
        self.name, self.model, self.script = name, "scripted", script
        self.requests = self.under_way = self.most = 0
        self.together, self._met = together, anyio.Event()

    async def complete(self, request: Request) -> Reply:
        self.requests += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.under_way >= self.together:
            self._met.set()
        try:
            await self._met.wait()
            await anyio.sleep(0.01)
            answer = self.script(request)
        finally:
            self.under_way -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        return


class Breaking(SandboxProvider):
    """The local sandbox, except that the next boxes fail to open, or fail when they are closed."""

    name = "breaking"
    promises = "nothing"

    def __init__(self, opening: int = 0, closing: int = 0, saying: str = "no room for another box") -> None:
        self.inner = provider("local")
        self.saying = saying
        self.opening, self.closing = opening, closing
        self.open_now = self.opened = 0

    def unavailable(self) -> str | None:
        return None

    def open(self, spec: BoxSpec) -> AbstractAsyncContextManager[Sandbox]:
        return self._open(spec)

    def seal(self, box: Sandbox, spec: BoxSpec) -> AbstractAsyncContextManager[Sandbox]:
        return self.inner.seal(box, spec)

    @asynccontextmanager
    async def _open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        if self.opening:
            self.opening -= 1
            raise OSError(self.saying)
        async with self.inner.open(spec) as sandbox:
            self.opened += 1
            self.open_now += 1
            try:
                yield sandbox
            finally:
                self.open_now -= 1
        if self.closing:
            self.closing -= 1
            raise OSError("the box would not go away")


class OwnJudge(LocalProvider):
    """The local sandbox, where a box is its own judge."""

    name = "own judge"
    seal = SandboxProvider.seal


def needs_a_service(folder: Path, mark: str) -> Task:
    """A task whose tests look for a process that its solution leaves: a sleep of so many seconds."""
    found = f"pgrep -f '^sleep {mark}' && echo 1 > $VERIFIER_DIR/reward.txt || echo 0 > $VERIFIER_DIR/reward.txt\n"
    task = make_task(folder, test_sh=found)
    (task.folder / "solution" / "solve.sh").write_text(f"setsid sleep {mark} > /dev/null 2>&1 &\n")
    return task
