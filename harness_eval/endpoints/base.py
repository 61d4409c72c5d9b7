"""What an endpoint is: something that answers requests."""

from __future__ import annotations

from abc import ABC, abstractmethod

from harness_eval.types import Reply, Request


class Endpoint(ABC):
    """A served model. One object serves many trials at once."""

    name: str
    model: str

    @property
    def served_as(self) -> frozenset[str]:
        """Models and fingerprints that replies named so far; none where that is not known."""
        return frozenset()

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """One reply, after the retries that the endpoint's policy allows.

        Raises:
            ContextOverflow: the prompt does not fit the window.
            EndpointFailure: no usable reply within the retries.
            EndpointDown: no later call can succeed either (wrong key, quota, unknown model, nothing listens).
            HarnessFailure: the server refuses this request as it stands (400 or 422).
        """

    @abstractmethod
    async def close(self) -> None:
        """Release connections."""
