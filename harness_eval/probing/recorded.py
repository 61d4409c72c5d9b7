"""The probes of a run: made once before the first trial, and kept for when it is resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.probe import Check
from harness_eval.errors import EndpointDown, HarnessEvalError, boundary
from harness_eval.harness import Harness
from harness_eval.probing.asked import probe
from harness_eval.probing.found import Probe, Unsupported, read, write


@dataclass(slots=True)
class Prober:
    """Probes the endpoints of the run in `folder`, and tells each probe that it makes.

    `again` makes those anew that are recorded. `down` has a message for each endpoint where no call can succeed.
    """

    folder: Path
    harnesses: Sequence[Harness]
    tell: Callable[[str, Probe, int], None]
    again: bool = False
    probes: dict[str, Probe] = field(default_factory=dict)
    down: dict[str, str] = field(default_factory=dict)

    async def ask(self, endpoints: Mapping[str, EndpointConfig]) -> None:
        """Probe each of these, unless that was done before and something was established; record what is found.

        Nothing that goes wrong in a probe is raised: it is then unknown what the probe would have said.
        """
        for name, config in endpoints.items():
            known = self.probes.get(name)
            if known is None or self.again or not known.settled:
                await self._ask(name, config)

    async def _ask(self, name: str, config: EndpointConfig) -> None:
        try:
            with boundary("endpoint"):
                found = await probe(config, self.harnesses)
        except EndpointDown as error:
            self.down[name] = str(error)
            return
        except HarnessEvalError as error:
            found = Probe(config.model, (Check("probe", "unknown", str(error), error.label),))
        self.probes[name] = found
        write(self.folder, self.probes)
        self.tell(name, found, len(self.harnesses))

    @property
    def refused(self) -> dict[tuple[str, str], Unsupported]:
        """What cannot run, by harness and endpoint."""
        return {(each.harness, name): each for name, found in self.probes.items() for each in found.unsupported}

    @property
    def tokens(self) -> int:
        """What all probes of the run took."""
        return sum(found.usage.total for found in self.probes.values())

    @property
    def cost(self) -> float:
        """Dollars for all probes of the run, as far as prices are known."""
        return sum(found.cost or 0.0 for found in self.probes.values())


def prober(folder: Path, harnesses: Sequence[Harness], tell: Callable[[str, Probe, int], None], again: bool) -> Prober:
    """A prober that knows what is recorded.

    Raises:
        ConfigError: the record is damaged.
    """
    return Prober(folder, harnesses, tell, again, read(folder))
