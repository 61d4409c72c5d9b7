"""Which row an endpoint is."""

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.compat.subjects import subject_of
from harness_eval.probing import Probe

ENTRY = {
    "name": "k3",
    "model": "kimi-k3",
    "base_url": "https://me:pw-secret-1@api.example:8443/v1/key",
    "profile": "kimi-k3",
}


@pytest.mark.parametrize(
    ("entry", "serving"),
    [
        (ENTRY, "kimi-k3 at api.example"),
        (ENTRY | {"profile": "generic"}, "api.example"),
        (ENTRY | {"serving": "vLLM, fp8"}, "vLLM, fp8"),
        ({"name": "small", "base_url": "this machine", "kind": "local-model"}, "this machine"),
        ({"name": "reference", "base_url": "embedded"}, "embedded"),
        (ENTRY | {"profile": "generic", "base_url": "https://[bad/v1"}, None),
    ],
)
def test_a_serving_is_profile_and_host_and_nothing_else_of_the_address(entry: dict[str, Any], serving: str) -> None:
    assert subject_of(entry, None, imported=False).serving == serving


def test_a_version_is_what_is_told_else_the_model_that_replies_named_else_their_fingerprint() -> None:
    def version(*served: str, **told: str) -> str | None:
        return subject_of(ENTRY | told, Probe("kimi-k3", (), served=served), imported=False).version

    assert version("model kimi-k3-0905", "fingerprint fp_1") == "kimi-k3-0905"
    assert version("model kimi-k3", "fingerprint fp_1") == "fp_1"
    assert version("model kimi-k3") is None
    assert version("model kimi-k3-0905", version="2026-10") == "2026-10"


def test_of_an_imported_model_no_serving_is_known() -> None:
    assert subject_of({"name": "m", "model": "m"}, None, imported=True).serving is None
