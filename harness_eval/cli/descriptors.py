"""Files that this process may have open: each trial under way takes a connection, and of a box two more."""

from __future__ import annotations

import resource

from harness_eval.cli.output import say

_A_TRIAL = 4  # a connection; of two boxes while it is judged, the socket of each; and one that is about to be closed
_BESIDES = 200


def allow_descriptors(trials: int) -> None:
    """Raise the limit on open files, as far as it may be, to what so many trials at once need; say where it is less."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _BESIDES + _A_TRIAL * trials
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < wanted:
        say(
            f"note: this process may have {most:,} files open, enough for about {(most - _BESIDES) // _A_TRIAL:,} of "
            f"{trials:,} trials at once; raise the limit (ulimit -Hn) or lower --concurrency"
        )
