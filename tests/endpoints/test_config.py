"""What a user may say about an endpoint."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from harness_eval.config import parse
from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.endpoints.openai import OpenAIEndpoint
from harness_eval.endpoints.profiles import Price
from harness_eval.errors import ConfigError
from harness_eval.types import Usage


def config(**options: Any) -> EndpointConfig:
    return EndpointConfig.model_validate({"name": "k", "model": "m", "base_url": "https://host/v1", **options})


@pytest.mark.parametrize(
    "url", ["", "host/v1", "localhost:8000", "ftp://host/v1", "http://", "http://host:notaport/v1", "https://a b/v1"]
)
def test_a_url_that_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="base_url must look like https://host/v1"):
        config(base_url=url)


@pytest.mark.parametrize("url", ["https://me:hunter2@host/v1", "https://host/v1?key=hunter2", "https://host/#hunter2"])
def test_a_url_that_holds_a_credential_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigError, match="no credentials") as caught:
        config(base_url=url)
    assert "hunter2" not in str(caught.value)


def test_a_key_in_place_of_a_variable_name_is_refused_without_repeating_it() -> None:
    for field in ({"api_key_env": "fake-key-0123"}, {"headers_env": {"X-Key": "fake-key-0123"}}):
        with pytest.raises(ConfigError, match="must name an environment variable") as caught:
            config(**field)
        assert "fake-key-0123" not in str(caught.value)


@pytest.mark.parametrize(
    "field",
    [
        {"headers_env": "Authorization: fake-key-0123"},
        {"headers_env": ["fake-key-0123"]},
        {"headers_env": {"X-Key": ["fake-key-0123"]}},
        {"headers_env": None},
        {"api_key_env": ["fake-key-0123"]},
        {"api_key_env": 123456},
        {"api_key_env": {"fake-key-0123": 1}},
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_without_repeating_it(field: dict[str, Any]) -> None:
    settings = {"name": "k", "model": "m", "base_url": "https://host/v1", **field}
    with pytest.raises(ConfigError, match="environment variable") as caught:
        parse(EndpointConfig, settings, "study.yaml")
    assert "fake-key" not in str(caught.value)
    assert "123456" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"api_key": "fake-key-0123"}, "extra_body.api_key"),
        ({"provider": {"Authorization": "fake-key-0123"}}, "extra_body.provider.Authorization"),
        ({"x-api-key": "fake-key-0123"}, "extra_body.x-api-key"),
        ({"list": [{"access_token": "fake-key-0123"}]}, "extra_body.list.0.access_token"),
        ({"aws_secret_access_key": "fake-key-0123"}, "extra_body.aws_secret_access_key"),
        ({"token": "fake-key-0123"}, "extra_body.token"),
        ({"headers": {"X-Route": "Bearer fake-key-0123"}}, "extra_body.headers.X-Route"),
        ({"note": "sk-fake-key-0123"}, "extra_body.note"),
    ],
)
def test_a_credential_in_the_body_is_refused_by_its_place_alone(body: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError, match=f"{place} must not hold a credential") as caught:
        config(extra_body=body)
    assert "fake-key" not in str(caught.value)


def test_names_that_only_sound_like_a_credential_are_taken() -> None:
    body = {"prompt_cache_key": "run-7", "max_tokens": 5, "chat_template_kwargs": {"thinking": True}, "api_key": None}
    assert config(extra_body=body).extra_body == body


def test_an_unknown_field_is_refused_without_repeating_its_value() -> None:
    with pytest.raises(ValidationError, match="api_key") as caught:
        config(api_key="fake-key-0123")
    assert "fake-key-0123" not in str(caught.value)


def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    with pytest.raises(ConfigError, match="the environment variable ABSENT_KEY is not set"):
        open_endpoint(config(api_key_env="ABSENT_KEY"))
    with pytest.raises(ConfigError, match="ABSENT_KEY"):
        open_endpoint(config(headers_env={"X-Route": "ABSENT_KEY"}))


def test_a_key_that_no_header_may_carry_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("fake-key-0123\u2026", "fake-key-0123\nX-Other: 1"):
        monkeypatch.setenv("FAKE_KEY", value)
        with pytest.raises(ConfigError, match="FAKE_KEY holds what no header may carry") as caught:
            open_endpoint(config(api_key_env="FAKE_KEY"))
        assert "fake-key-0123" not in str(caught.value)


def test_neither_repr_nor_dump_holds_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", "fake-key-0123")
    settings = config(api_key_env="FAKE_KEY")
    endpoint = open_endpoint(settings)
    assert isinstance(endpoint, OpenAIEndpoint)
    shown = [repr(settings), str(settings), repr(endpoint), settings.model_dump_json()]
    assert not any("fake-key-0123" in text for text in shown)


def test_an_unknown_profile_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'kimi-k3'"):
        config(profile="kimi-k33")


def test_an_effort_that_the_server_would_ignore_is_refused_here() -> None:
    with pytest.raises(ConfigError, match="reasoning_effort must be one of low, high, max"):
        config(profile="kimi-k3", reasoning_effort="medium")
    assert config(profile="kimi-k3", reasoning_effort="high").reasoning_effort == "high"
    assert config(reasoning_effort="medium").reasoning_effort == "medium"


def test_two_thinking_switches_at_once_are_refused_where_only_one_is_allowed() -> None:
    with pytest.raises(ConfigError, match="either thinking or reasoning_effort"):
        config(profile="kimi-k3", reasoning_effort="high", thinking=True)
    assert config(profile="deepseek-v4", reasoning_effort="high", thinking=True).thinking


def test_a_thinking_switch_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match="no thinking switch is known"):
        config(thinking=False)


def test_sampling_parameters_are_refused_where_the_server_refuses_them() -> None:
    with pytest.raises(ConfigError, match="extra_body must not set temperature"):
        config(profile="kimi-k3", extra_body={"temperature": 0})
    assert config(extra_body={"temperature": 0}).extra_body == {"temperature": 0}


def test_a_cost_counts_cached_tokens_at_their_own_price() -> None:
    price = {"prompt": 3.0, "cached": 0.3, "completion": 15.0}
    usage = Usage(prompt=1_000_000, cached=400_000, completion=100_000, reasoning=50_000)
    assert config(price=price).cost(usage) == pytest.approx(0.6 * 3.0 + 0.4 * 0.3 + 0.1 * 15.0)


def test_price_and_window_come_from_the_profile_unless_stated_and_are_unknown_otherwise() -> None:
    assert config(profile="kimi-k3").cost(Usage(completion=1_000_000)) == pytest.approx(15.0)
    assert config(profile="kimi-k3").context_window == 1_048_576
    stated = config(profile="kimi-k3", window=200_000, price=Price(prompt=1, cached=1, completion=1))
    assert stated.context_window == 200_000
    assert stated.cost(Usage(completion=1_000_000)) == pytest.approx(1.0)
    assert (config().context_window, config().cost(Usage(prompt=5))) == (None, None)


def test_an_unknown_key_inside_a_price_is_refused() -> None:
    with pytest.raises(ValidationError, match="tokens"):
        config(price={"prompt": 1, "cached": 1, "completion": 1, "tokens": 1})
