"""What looks like a credential is taken out of every message, and ordinary text is left alone."""

from __future__ import annotations

import pytest

from harness_eval.errors import redact

BODY = "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"


@pytest.mark.parametrize(
    "secret",
    [
        f"sk-{BODY}",
        f"ghp_{BODY}",
        f"gho_{BODY}",
        f"github_pat_{BODY}",
        f"hf_{BODY}",
        f"AIza{BODY}",
        f"xoxb-{BODY}",
        "AKIA" + "ABCDEFGH12345678",
        f"eyJ{BODY}.eyJ{BODY}.{BODY}",
    ],
)
def test_well_known_tokens_are_taken_out(secret: str) -> None:
    assert redact(f"token {secret}, used") == "token [redacted], used"


@pytest.mark.parametrize(
    "start",
    [
        "Bearer ",
        "Authorization: Basic ",
        "x-api-key: ",
        "X-Goog-Api-Key: ",
        "x-auth-token: ",
        '"api_key": "',
        "https://host/v1?key=",
        "https://host/v1?alt=sse&token=",
        "https://host/v1#access_token=",
    ],
)
def test_what_follows_the_name_of_a_key_is_taken_out(start: str) -> None:
    assert redact(f"{start}{BODY}") == f"{start}[redacted]"


@pytest.mark.parametrize("who", ["me:hunter2", "hunter2", "me:"])
def test_who_asks_is_taken_out_of_an_address(who: str) -> None:
    assert redact(f"https://{who}@host:8000/v1 said no") == "https://[redacted]@host:8000/v1 said no"


@pytest.mark.parametrize(
    "text",
    [
        "https://host/v1/@me",
        "mail me@host",
        "max_tokens=4096 is too large",
        "the key=value form",
        "task-runner-with-long-name",
        "hf_model",
        "eyJhbGci",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("unit", ["eyJabcdefgh", "sk-", "bearer ", "a ", "api_key", "authorization: ", "?key=", " "])
def test_a_token_after_megabytes_of_what_looks_like_a_beginning_is_found(unit: str) -> None:
    text = unit * (2_000_000 // len(unit))  # which would take hours in quadratic time
    assert redact(f"{text} ghp_{BODY}").endswith("[redacted]")
