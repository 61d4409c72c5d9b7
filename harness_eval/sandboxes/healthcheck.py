"""Waiting until what a task's environment starts is ready."""

from __future__ import annotations

import anyio

from harness_eval.errors import TaskFailure
from harness_eval.sandboxes.base import BoxSpec, Sandbox
from harness_eval.sandboxes.secrecy import told


async def require_healthy(box: Sandbox, spec: BoxSpec) -> None:
    """Return once the task's health check has succeeded, at once if it has none.

    Raises:
        TaskFailure: it failed too often; with its last output.
    """
    check = spec.healthcheck
    if check is None:
        return
    counting = anyio.current_time() + check.start_period
    failures = 0
    while True:
        early = anyio.current_time() < counting
        ran = await box.run(check.command, timeout=check.timeout)
        if ran.exit_code == 0:
            return
        failures += not early
        if failures >= max(1, check.retries):
            break
        await anyio.sleep(check.start_interval if early else check.interval)
    ended = f"took longer than {check.timeout:g} s" if ran.timed_out else f"ended with {ran.exit_code}"
    raise TaskFailure(f"{spec.name}: its health check {ended}; last output: {told(ran.output, spec.env)}")
