"""What a user says about an endpoint, and the way from there to an open one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.profiles import SAMPLING, Price, Profile, find_profile
from harness_eval.errors import ConfigError, nearest, redact
from harness_eval.types import Json, Usage

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_SECRET_NAME = re.compile(
    r"(apikey|accesskey|accesskeyid|secretkey|privatekey|password|passwd|secret|credentials?|authorization|cookie)$"
    r"|^(auth|bearer|key|token)$|(access|auth|bearer|session|refresh|id|api)token$"
)
LOCAL_MODEL = "SmolLM2-135M-Instruct"
_OWN_FIELDS = ("model", "messages", "prompt", "tools", "stream", "stop", "seed")


class EndpointConfig(BaseModel):
    """An endpoint as data. Keys are never in it: `api_key_env` and `headers_env` name environment variables.

    `timeout_seconds` is the longest silence of the server, `backoff_seconds` the first wait before a retry,
    `concurrency` the most requests under way at once, `window` the model's context in tokens, `price` dollars for a
    million tokens. The kind `local-model` is served on this machine for as long as it is needed.
    `extra_body` is merged into every request. `stream` asks for the reply piece by piece. `scripted`
    marks an endpoint that is no language model. `version` and `serving` say of the model and of what serves it what
    cannot be seen from here, such as weights and quantisation, for compatibility matrices.

    Raises:
        ConfigError: a URL, variable name, profile, or combination of thinking options that cannot work.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str = Field(min_length=1)
    kind: Literal["openai", "litellm", "local-model"] = "openai"
    base_url: str = ""
    model: str = Field(min_length=1)
    api_key_env: str | None = None
    headers_env: dict[str, str] = {}
    profile: str = "generic"
    reasoning_effort: str | None = None
    thinking: bool | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    extra_body: dict[str, Json] = {}
    stream: bool = True
    timeout_seconds: float = Field(default=600.0, gt=0)
    retries: int = Field(default=5, ge=0)
    backoff_seconds: float = Field(default=1.0, gt=0)
    concurrency: int = Field(default=8, ge=1)
    window: int | None = Field(default=None, gt=0)
    price: Price | None = None
    scripted: bool = False
    version: str | None = Field(default=None, min_length=1, max_length=200)
    serving: str | None = Field(default=None, min_length=1, max_length=200)

    @field_validator("api_key_env", mode="before")
    @classmethod
    def _is_variable(cls, value: Json) -> Json:
        if value is not None:
            _check_variable("api_key_env", value)
        return value

    @field_validator("headers_env", mode="before")
    @classmethod
    def _are_variables(cls, value: Json) -> Json:
        # Checked before anything else looks at it: what stands here by mistake may be the key itself.
        if not isinstance(value, Mapping):
            raise ConfigError("headers_env must map names of headers to names of environment variables")
        for header, variable in value.items():
            _check_variable(f"headers_env.{redact(str(header))}", variable)
        return value

    @field_validator("extra_body")
    @classmethod
    def _holds_no_secret(cls, value: dict[str, Json]) -> dict[str, Json]:
        if path := next(_secret_places(value, "extra_body"), None):
            raise ConfigError(f"{path} must not hold a credential, for it is recorded; use api_key_env or headers_env")
        return value

    @model_validator(mode="after")
    def _is_possible(self) -> EndpointConfig:
        if self.kind == "local-model":
            _check_local(self)
        elif self.kind == "openai" or self.base_url:
            _check_url(self.name, self.base_url)
        _check_options(self, self.quirks)
        return self

    @property
    def quirks(self) -> Profile:
        """The profile itself."""
        return find_profile(self.profile)

    @property
    def context_window(self) -> int | None:
        """The model's context in tokens: as configured, else the profile's, else unknown."""
        return self.window or self.quirks.window

    def cost(self, usage: Usage) -> float | None:
        """Dollars for this usage; None when no price is known."""
        price = self.price or self.quirks.price
        return price.cost(usage) if price else None


def _check_variable(field: str, value: Json) -> None:
    # The value is not repeated: whoever mistakes this field for the key itself must not find the key in a log.
    if not (isinstance(value, str) and _VARIABLE.fullmatch(value)):
        raise ConfigError(f"{field} must name an environment variable (capitals, digits, underscores), not hold a key")


def _secret_places(value: Json, path: str) -> Iterator[str]:
    """Where something in a body has a name, or looks, like a credential."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            place = f"{path}.{redact(str(key))}"
            if inner is not None and _SECRET_NAME.search(re.sub(r"[^a-z]", "", str(key).lower())):
                yield place
            yield from _secret_places(inner, place)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secret_places(inner, f"{path}.{index}")
    elif isinstance(value, str) and redact(value) != value:
        yield path


def _check_url(name: str, base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound or re.search(r"\s", base_url):
        raise ConfigError(f"endpoint {name!r}: base_url must look like https://host/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(f"endpoint {name!r}: base_url must hold no credentials, query or fragment; use headers_env")


def _check_local(config: EndpointConfig) -> None:
    if config.model != LOCAL_MODEL:
        raise ConfigError(f"endpoint {config.name!r}: the local model is {LOCAL_MODEL}, not {config.model!r}")
    if config.base_url or config.api_key_env:
        raise ConfigError(f"endpoint {config.name!r}: a local model has neither base_url nor api_key_env")


def _check_options(config: EndpointConfig, profile: Profile) -> None:
    where = f"endpoint {config.name!r}, profile {config.profile!r}"
    if config.reasoning_effort and profile.efforts and config.reasoning_effort not in profile.efforts:
        raise ConfigError(f"{where}: reasoning_effort must be one of {', '.join(profile.efforts)}")
    if config.thinking is not None and not (profile.thinking_on if config.thinking else profile.thinking_off):
        raise ConfigError(f"{where}: no thinking switch is known; use extra_body")
    effort = config.reasoning_effort or config.extra_body.get("reasoning_effort")
    switched = config.thinking is not None or "thinking" in config.extra_body
    if effort and ((profile.one_switch and switched) or config.thinking is False):
        raise ConfigError(f"{where}: give either thinking or reasoning_effort, not both")
    _check_extra(config, profile, where)


def _check_extra(config: EndpointConfig, profile: Profile, where: str) -> None:
    """Whatever the server would refuse, or ignore without a word, is refused here."""
    refused = set(_OWN_FIELDS) | (set(SAMPLING) if profile.fixed_sampling else set())
    if taken := sorted(refused & set(config.extra_body)):
        raise ConfigError(f"{where}: extra_body must not set {', '.join(taken)}")
    for name in config.extra_body if profile.fields else ():
        if name not in profile.fields:
            raise ConfigError(f"{where}: the server does not know extra_body.{name}; {nearest(name, profile.fields)}")
    for name, allowed in (("reasoning_effort", profile.efforts), ("tool_choice", profile.tool_choices)):
        value = config.extra_body.get(name)
        if value is not None and allowed and value not in allowed:
            raise ConfigError(f"{where}: extra_body.{name} must be one of {', '.join(allowed)}")


def credentials(config: EndpointConfig) -> tuple[str | None, dict[str, str]]:
    """The key (None when the endpoint needs none) and the extra headers, read from the environment.

    Raises:
        ConfigError: a variable is unset or empty; the message names it.
    """
    key = _variable(config.name, config.api_key_env) if config.api_key_env else None
    return key, {header: _variable(config.name, variable) for header, variable in config.headers_env.items()}


def _variable(name: str, variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ConfigError(f"endpoint {name!r}: the environment variable {variable} is not set")
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(f"endpoint {name!r}: the environment variable {variable} holds what no header may carry")
    return value


def open_endpoint(config: EndpointConfig) -> Endpoint:
    """The endpoint, ready for requests; nothing is sent yet.

    Raises:
        ConfigError: an environment variable that holds the key or a header is missing.
    """
    if config.kind == "litellm":
        from harness_eval.endpoints.litellm import LiteLLMEndpoint  # lazy: slow import

        return LiteLLMEndpoint(config)
    from harness_eval.endpoints.openai import OpenAIEndpoint  # lazy: slow import

    return OpenAIEndpoint(config)
