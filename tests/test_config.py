"""What a user reads when a file is wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness_eval.config import parse, read_yaml
from harness_eval.errors import ConfigError
from harness_eval.types import Limits


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    base_url: str
    mode: Literal["fast", "slow"] = "fast"
    api_key_env: str | None = None

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str) -> str:
        if not value.startswith("http"):
            raise ValueError("must start with http")
        if "@" in value:
            raise ConfigError("base_url must hold no credentials")
        return value


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inners: list[Inner] = Field(default_factory=list)
    named: dict[str, Inner] = Field(default_factory=dict)
    either: Inner | int = 0
    limits: Limits = Limits()
    size: int = Field(3, ge=1)


def message(data: object) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(Outer, data, "study.yaml")
    text = str(caught.value)
    assert "\n" not in text
    return text


def file(folder: Path, text: str | bytes) -> Path:
    path = folder / "a.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_good_mapping_becomes_the_model() -> None:
    assert parse(Outer, {"inners": [{"base_url": "http://a"}]}, "x").inners[0].mode == "fast"


def test_an_unknown_key_names_file_path_and_nearest_key() -> None:
    text = message({"inners": [{"base_url": "http://a", "api_key_enf": "X"}]})
    assert text.startswith("study.yaml: inners.0.api_key_enf: unknown key; did you mean 'api_key_env'?")


def test_an_unknown_key_below_a_dictionary_or_a_union_finds_its_model() -> None:
    assert "did you mean 'mode'?" in message({"named": {"a": {"base_url": "http://a", "mod": "fast"}}})
    text = message({"either": {"base_url": "http://a", "mod": "fast"}})
    assert text.startswith("study.yaml: either.mod: unknown key; did you mean 'mode'?")


def test_an_unknown_key_of_a_plain_dataclass_is_refused() -> None:
    assert "limits.step: unknown key; did you mean 'steps'?" in message({"limits": {"step": 3}})


def test_an_unknown_value_names_the_nearest_value() -> None:
    text = message({"inners": [{"base_url": "http://a", "mode": "slwo"}]})
    assert text == "study.yaml: inners.0.mode: 'slwo' is not known; did you mean 'slow'? choices: fast, slow"


def test_a_missing_key_is_named() -> None:
    assert message({"inners": [{}]}) == "study.yaml: inners.0.base_url: is required"


def test_the_words_of_a_validator_are_kept() -> None:
    assert message({"inners": [{"base_url": "ftp"}]}) == "study.yaml: inners.0.base_url: must start with http"


def test_a_configuration_error_of_a_validator_gets_the_file() -> None:
    assert message({"inners": [{"base_url": "http://a@b"}]}) == "study.yaml: base_url must hold no credentials"


def test_a_value_out_of_range_is_shown() -> None:
    assert message({"size": 0}) == "study.yaml: size: input should be greater than or equal to 1, not 0"


def test_many_problems_are_counted_not_listed() -> None:
    assert message(dict.fromkeys("vwxyz", 1)).endswith("; and 2 more")


def test_a_credential_in_the_wrong_place_is_not_repeated() -> None:
    assert "sk-verysecretkey" not in message({"size": "sk-verysecretkey"})


# Each line is the one before ten times over.
MANY_ALIASES = "k0: &k0 x\n" + "".join(f"k{at}: &k{at} [{', '.join([f'*k{at - 1}'] * 10)}]\n" for at in range(1, 9))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a: [1", "is not YAML"),
        ("- 1\n", "holds a list"),
        ("", "holds nothing"),
        (b"\xff\xfe\x00", "not a text file"),
        ("a: 1\nb: 2\na: 3\n", "key 'a' stands twice (line 3, column 1)"),
        ("when: 2024-99-99\n", "is not YAML"),
        ("a: !!python/object:os.system {}\n", "is not YAML"),
        ('a: !!int ""\n', "is not YAML"),
        ("a: !!bool perhaps\n", "is not YAML"),
        ("? [a]\n: b\n", "a key must be a single value (line 1, column 3)"),
        ("a: " + "[" * 5000, "nested too deep"),
        ("a: &a [*a]\n", "aliases"),
        (MANY_ALIASES, "aliases"),
    ],
)
def test_a_file_that_is_no_mapping_is_one_clear_line(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_yaml(file(tmp_path, content))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "a.yaml"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [".", "missing.yaml"])
def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(tmp_path / name)


@pytest.mark.parametrize("name", ["pipe", "endless", "a\0b"])
def test_only_regular_files_are_read(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(tmp_path / name)


def test_merge_keys_may_stand_twice(tmp_path: Path) -> None:
    text = "x: &x {a: 1}\ny: &y {b: 2}\nz:\n  <<: *x\n  <<: *y\n"
    assert read_yaml(file(tmp_path, text))["z"] == {"a": 1, "b": 2}


def test_a_key_with_ends_of_lines_leaves_one_line() -> None:
    class Counted(BaseModel):
        counts: dict[str, int]

    with pytest.raises(ConfigError) as caught:
        parse(Counted, {"counts": {"a\n::error::b\r\u2028c": "x"}}, "f.yaml")
    assert len(str(caught.value).splitlines()) == 1


def test_an_endless_wrong_value_is_not_repeated_whole() -> None:
    with pytest.raises(ConfigError) as found:
        parse(Inner, {"base_url": "http://x", "mode": "a" * 10_000_000}, "file")
    assert len(str(found.value)) < 500
