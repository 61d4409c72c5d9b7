"""What is peculiar about each kind of server, as data.

A profile holds only what must be known before the first request. What can be observed (which key reasoning comes
under, whether earlier thinking reaches the prompt, how ids look) is observed, because reports disagree about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field

from harness_eval.errors import ConfigError, nearest
from harness_eval.types import Json, Usage

SAMPLING = ("temperature", "top_p", "top_k", "min_p", "n", "presence_penalty", "frequency_penalty")


class Price(BaseModel):
    """US dollars for a million tokens: prompt, prompt served from the cache, completion; `as_of` says when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: float = Field(ge=0)
    cached: float = Field(ge=0)
    completion: float = Field(ge=0)
    as_of: str = ""

    def cost(self, usage: Usage) -> float:
        """What this usage costs, in dollars."""
        fresh = max(usage.prompt - usage.cached, 0)
        return (fresh * self.prompt + usage.cached * self.cached + usage.completion * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Profile:
    """Quirks of one kind of server; every default suits a plain OpenAI-compatible one.

    `reasoning_key` is what earlier reasoning is sent under until a reply shows another key, `blank_reasoning` what
    stands there for reasoning that was empty. `effort_path` is where the effort stands in the request body, `efforts`
    what is allowed there (empty: anything). `thinking_on` and `thinking_off` are merged into the body. `one_switch`:
    either the effort or the thinking switch, never both. `limit_key` is the field for the limit of completion tokens.
    `stream_usage`: usage at the end of a stream must be asked for. `fixed_sampling`: sampling parameters are refused or
    ignored. `fields` are the other fields that the server knows (empty: unknown), `tool_choices` those that it obeys
    (empty: any). `plain_schemas`: tool schemas are rewritten without `$ref`, root `anyOf` and untyped nodes.
    `fill_content`: an assistant message without content gets "".
    """

    reasoning_key: str = "reasoning_content"
    blank_reasoning: str = ""
    effort_path: tuple[str, ...] = ("reasoning_effort",)
    efforts: tuple[str, ...] = ()
    thinking_on: Mapping[str, Json] = field(default_factory=dict)
    thinking_off: Mapping[str, Json] = field(default_factory=dict)
    one_switch: bool = False
    always: Mapping[str, Json] = field(default_factory=dict)
    limit_key: str = "max_completion_tokens"
    stream_usage: bool = True
    fixed_sampling: bool = False
    fields: frozenset[str] = frozenset()
    tool_choices: tuple[str, ...] = ()
    plain_schemas: bool = False
    fill_content: bool = False
    window: int | None = None
    price: Price | None = None


_ON = {"thinking": {"type": "enabled"}}
_OFF = {"thinking": {"type": "disabled"}}
_EFFORTS = ("low", "high", "max")
_LIMITS = ("max_completion_tokens", "max_tokens")
_SWITCHES = ("reasoning_effort", "thinking", "tool_choice", "response_format", "stream_options")
_KNOWN_AT_MOONSHOT = frozenset((*_LIMITS, *_SWITCHES, "prompt_cache_key", "safety_identifier"))

# What holds for the model wherever it is served: it samples in one way only, and has this window.
_K3 = Profile(efforts=_EFFORTS, fixed_sampling=True, fill_content=True, window=1_048_576)
_SELF_HOSTED_K3 = replace(
    _K3,
    effort_path=("chat_template_kwargs", "thinking_effort"),
    thinking_on={"chat_template_kwargs": {"thinking": True}},
    thinking_off={"chat_template_kwargs": {"thinking": False}},
)
_OPENROUTER = Profile(
    reasoning_key="reasoning",
    effort_path=("reasoning", "effort"),
    thinking_on={"reasoning": {"enabled": True}},
    thinking_off={"reasoning": {"enabled": False}},
    limit_key="max_tokens",
)
_K2_WITH_THINKING = Profile(
    thinking_on=_ON, thinking_off=_OFF, fixed_sampling=True, plain_schemas=True, fill_content=True
)

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "generic": Profile(),
        "kimi-k3": replace(
            _K3,
            thinking_on=_ON,
            thinking_off=_OFF,
            one_switch=True,
            # Whatever else is sent is ignored without a word.
            fields=_KNOWN_AT_MOONSHOT,
            tool_choices=("auto", "none", "required"),
            plain_schemas=True,
            price=Price(prompt=3.00, cached=0.30, completion=15.00, as_of="2026, at launch"),
        ),
        "kimi-k3-vllm": replace(_SELF_HOSTED_K3, reasoning_key="reasoning"),
        "kimi-k3-sglang": _SELF_HOSTED_K3,
        # Through litellm, which makes a token budget of the effort and, on this API, drops earlier reasoning: the probe
        # tells whether a version still does.
        "kimi-k3-bedrock": replace(_K3, thinking_on=_ON, thinking_off=_OFF, one_switch=True, limit_key="max_tokens"),
        "kimi-k3-openrouter": replace(
            _OPENROUTER, efforts=_EFFORTS, fixed_sampling=True, fill_content=True, window=_K3.window
        ),
        "kimi-k3-fireworks": replace(_K3, limit_key="max_tokens"),
        "kimi-k2": Profile(plain_schemas=True, fill_content=True),
        "kimi-k2.5": _K2_WITH_THINKING,
        # Earlier thinking is discarded unless it is asked to be kept; then an empty one counts as a missing one.
        "kimi-k2.6": replace(
            _K2_WITH_THINKING, thinking_on={"thinking": {"type": "enabled", "keep": "all"}}, blank_reasoning=" "
        ),
        "kimi-k2.7": _K2_WITH_THINKING,
        # Sampling parameters are taken and ignored, so that setting them would be a lie.
        "deepseek-v4": Profile(
            efforts=_EFFORTS, thinking_on=_ON, thinking_off=_OFF, limit_key="max_tokens", fixed_sampling=True
        ),
        "qwen": Profile(
            thinking_on={"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
            thinking_off={"chat_template_kwargs": {"enable_thinking": False}},
        ),
        "qwen-hosted": Profile(
            thinking_on={"enable_thinking": True}, thinking_off={"enable_thinking": False}, limit_key="max_tokens"
        ),
        "glm": Profile(
            thinking_on={"thinking": {"type": "enabled", "clear_thinking": False}},
            thinking_off=_OFF,
            limit_key="max_tokens",
            stream_usage=False,
        ),
        "minimax": Profile(reasoning_key="reasoning_details", always={"reasoning_split": True}),
        "openrouter": _OPENROUTER,
    }
)


def find_profile(name: str) -> Profile:
    """The profile of this name.

    Raises:
        ConfigError: no such profile; the message names the nearest.
    """
    if name not in PROFILES:
        raise ConfigError(f"unknown endpoint profile {name!r}: {nearest(name, PROFILES)}")
    return PROFILES[name]
