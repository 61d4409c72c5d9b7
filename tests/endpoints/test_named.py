"""What a server says of itself beside its replies."""

from __future__ import annotations

from harness_eval.endpoints.named import Named, told
from harness_eval.endpoints.stream import BodyReader


def test_models_and_fingerprints_of_chunks_and_bodies_are_kept_once() -> None:
    reader = BodyReader()
    for _ in range(3):
        reader.feed(b'data: {"model": "k3", "system_fingerprint": "fp_1", "choices": []}\n\n')
    reader.feed(b'data: {"model": null, "system_fingerprint": 7, "choices": []}\n\n')
    reader.close()
    assert told(reader.assembler.named.names) == ("model k3", "fingerprint fp_1")


def test_a_name_that_is_another_in_each_reply_names_nothing() -> None:
    assert told([f"fingerprint {number}" for number in range(20)] + ["model k3"]) == ("model k3",)


def test_a_server_cannot_fill_the_memory() -> None:
    named = Named()
    for number in range(1_000):
        named.take({"model": f"{number}" + "a" * 10_000})
    assert sum(map(len, named.names)) < 20_000
