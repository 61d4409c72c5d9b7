"""What a server says of itself beside its replies: the model that answered, and the fingerprint of its serving."""

from __future__ import annotations

from collections.abc import Iterable

from harness_eval.types import Json

_FIELDS = {"model": "model", "system_fingerprint": "fingerprint"}
_MOST = 4  # of a kind that are told: what has another name in each reply names nothing
_KEPT = 64
_LONGEST = 200  # characters


class Named:
    """The models and fingerprints that replies named, such as "model kimi-k3" and "fingerprint fp_1a2b"."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._last: tuple[Json, ...] = ()

    def take(self, chunk: dict[str, Json]) -> None:
        """Look at one chunk of a stream, or at a whole body."""
        said = tuple(map(chunk.get, _FIELDS))
        if said == self._last:  # each chunk of a stream repeats it
            return
        self._last = said
        for name, kind in zip(said, _FIELDS.values(), strict=True):
            if isinstance(name, str) and name:
                self.add(f"{kind} {name[:_LONGEST]}")

    def add(self, name: str) -> None:
        """Keep a name with its kind before it."""
        if len(self.names) < _KEPT:
            self.names.add(name)


def of_kind(names: Iterable[str], kind: str) -> set[str]:
    """The models ("model"), or the fingerprints ("fingerprint"), among names, without the kind before them."""
    return {name.removeprefix(f"{kind} ") for name in names if name.startswith(f"{kind} ")}


def told(names: Iterable[str]) -> tuple[str, ...]:
    """What is to be recorded of names: in a fixed order, and none of a kind that has too many."""
    distinct = sorted(set(names))
    kinds = [[name for name in distinct if name.startswith(f"{kind} ")] for kind in _FIELDS.values()]
    return tuple(name for each in kinds if len(each) <= _MOST for name in each)
