"""Bringing what an agent left into a box in which nothing of the agent's has ever run."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from dataclasses import replace

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes.base import BoxLimits, UnfitState
from harness_eval.sandboxes.box import SupervisedBox

_UNFIT = (errno.EFBIG, errno.ENAMETOOLONG, errno.ENOTDIR)  # what only the content of a folder can be the cause of


def roomy(limits: BoxLimits) -> BoxLimits:
    """The limits of a box in which a copy is judged: room for as much again, which a verifier may need."""
    return replace(limits, disk_mb=2 * limits.disk_mb)


async def copy_folder(source: SupervisedBox, target: SupervisedBox, path: str, limit: int) -> None:
    """Copy a folder's content to the same place in another box: names, bytes, permissions, times of change, links.

    `limit` is in bytes, with 4096 for each name. A box that is as large as this, and empty, has room for it.

    Raises:
        UnfitState: it is larger than that, no folder, or too deep.
        SandboxFailure: a box is broken, or does not take it.
    """
    content = source.contents(path, target.locate(path), limit)
    while fields := await _next(content):
        try:
            await target.put(fields)
        except OSError as error:
            raise SandboxFailure(f"what was left cannot be copied: {error}") from error


async def _next(content: AsyncIterator[list[bytes]]) -> list[bytes]:
    try:
        return await anext(content, [])
    except OSError as error:
        if error.errno in _UNFIT:
            raise UnfitState(f"the working directory: {error.strerror}") from error
        raise SandboxFailure(f"what was left cannot be read: {error}") from error
