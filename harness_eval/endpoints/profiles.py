"""What is peculiar about each kind of server, as data.

A profile holds only what must be known before the first request. What can be observed (which key reasoning comes
under, whether earlier thinking reaches the prompt, how ids look) is observed, because reports disagree about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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

    `reasoning_key` is what earlier reasoning is sent under until a reply shows another key. `effort_path` is where
    the effort stands in the request body, `efforts` what is allowed there (empty: anything). `thinking_on` and
    `thinking_off` are merged into the body. `one_switch`: either the effort or the thinking switch, never both.
    `fixed_sampling`: sampling parameters are refused. `plain_schemas`: tool schemas are rewritten without `$ref`,
    root `anyOf` and untyped nodes. `fill_content`: an assistant message without content gets "".
    """

    reasoning_key: str = "reasoning_content"
    effort_path: tuple[str, ...] = ("reasoning_effort",)
    efforts: tuple[str, ...] = ()
    thinking_on: Mapping[str, Json] = field(default_factory=dict)
    thinking_off: Mapping[str, Json] = field(default_factory=dict)
    one_switch: bool = False
    always: Mapping[str, Json] = field(default_factory=dict)
    fixed_sampling: bool = False
    plain_schemas: bool = False
    fill_content: bool = False
    window: int | None = None
    price: Price | None = None


_THINKING_ON = {"thinking": {"type": "enabled"}}
_THINKING_OFF = {"thinking": {"type": "disabled"}}
_EFFORTS = ("low", "high", "max")

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "generic": Profile(),
        "kimi-k3": Profile(
            efforts=_EFFORTS,
            thinking_on=_THINKING_ON,
            thinking_off=_THINKING_OFF,
            one_switch=True,
            fixed_sampling=True,
            plain_schemas=True,
            fill_content=True,
            window=1_048_576,
            price=Price(prompt=3.00, cached=0.30, completion=15.00, as_of="2026, at launch"),
        ),
        "kimi-k3-vllm": Profile(
            reasoning_key="reasoning",
            effort_path=("chat_template_kwargs", "thinking_effort"),
            efforts=_EFFORTS,
            thinking_on={"chat_template_kwargs": {"thinking": True}},
            thinking_off={"chat_template_kwargs": {"thinking": False}},
            fill_content=True,
            window=1_048_576,
        ),
        "kimi-k3-openrouter": Profile(
            reasoning_key="reasoning",
            effort_path=("reasoning", "effort"),
            fill_content=True,
            window=1_048_576,
        ),
        "kimi-k3-fireworks": Profile(efforts=_EFFORTS, fill_content=True, window=1_048_576),
        "kimi-k2": Profile(
            thinking_on=_THINKING_ON,
            thinking_off=_THINKING_OFF,
            fixed_sampling=True,
            plain_schemas=True,
            fill_content=True,
        ),
        "deepseek-v4": Profile(efforts=_EFFORTS, thinking_on=_THINKING_ON, thinking_off=_THINKING_OFF),
        "qwen": Profile(
            thinking_on={"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
            thinking_off={"chat_template_kwargs": {"enable_thinking": False}},
        ),
        "qwen-hosted": Profile(thinking_on={"enable_thinking": True}, thinking_off={"enable_thinking": False}),
        "glm": Profile(
            thinking_on={"thinking": {"type": "enabled", "clear_thinking": False}},
            thinking_off=_THINKING_OFF,
        ),
        "minimax": Profile(reasoning_key="reasoning_details", always={"reasoning_split": True}),
        "openrouter": Profile(
            reasoning_key="reasoning",
            effort_path=("reasoning", "effort"),
            thinking_on={"reasoning": {"enabled": True}},
            thinking_off={"reasoning": {"enabled": False}},
        ),
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
