"""Whether a run may begin that would cost money: it states its estimate, and wants `--yes` or a cap."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from harness_eval import store
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.errors import ConfigError
from harness_eval.estimate import estimate
from harness_eval.report.wording import count
from harness_eval.study import Study
from harness_eval.types import Usage

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_MILLION = Usage(prompt=1_000_000, completion=1_000_000)


def charging(endpoints: Sequence[EndpointConfig]) -> list[str]:
    """The endpoints that charge for tokens: those with a price, and those elsewhere whose price is unknown."""
    return [each.name for each in endpoints if _charges(each)]


def price_of(study: Study, folder: Path) -> str | None:
    """What the trials that the folder still owes will cost, in words; None where nothing is owed or nobody charges."""
    paid = charging(study.config.endpoints)
    if not paid:
        return None  # before the folder is read: a run of another kind reads it soon enough
    owed = max(study.planned - len(store.tally(folder).judged), 0)
    if not owed:
        return None
    expected, share = estimate(study), owed / study.planned
    if expected.price is None or expected.cached_price is None:
        price = "at a price that is not known"
    elif expected.price == expected.cached_price:
        price = f"about ${expected.price * share:,.2f}"
    else:
        price = f"about ${expected.cached_price * share:,.2f} (all prompts cached) to ${expected.price * share:,.2f}"
    tokens = f"about {expected.tokens * share / 1e6:,.1f} million tokens"
    return f"{count(owed, 'trial')} at {', '.join(paid)}: {tokens}, {price}, {expected.basis}"


def check(study: Study, stated: str | None, agreed: bool) -> None:
    """Let a run begin that costs nothing, has a cap in money or tokens, or was agreed to.

    Raises:
        ConfigError: it would cost money; the message is what `price_of` stated.
    """
    budgets = study.config.budgets
    if stated is None or agreed or budgets.money is not None or budgets.tokens is not None:
        return
    raise ConfigError(f"this run is paid for: {stated}. Say --yes, or cap it with --max-cost or --max-tokens")


def _charges(endpoint: EndpointConfig) -> bool:
    price = endpoint.cost(_MILLION)
    return _is_elsewhere(endpoint) if price is None else price > 0


def _is_elsewhere(endpoint: EndpointConfig) -> bool:
    """Whether a server is outside of this machine and its own network; one that is named without a URL is."""
    host = urlsplit(endpoint.base_url).hostname
    if host is None:
        return endpoint.kind == "litellm"
    if _NUMBER.fullmatch(host):
        return True  # an address in a spelling that nobody uses for a server of his own
    try:
        return not ipaddress.ip_address(host).is_private
    except ValueError:
        return "." in host and not host.endswith((".local", ".internal", ".localhost", ".lan"))
