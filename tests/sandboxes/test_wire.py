"""Messages between the two sides of a box, and what is kept of a flood."""

from __future__ import annotations

import socket

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes.box import SupervisedBox
from harness_eval.sandboxes.channel import Channel
from harness_eval.sandboxes.inside.wire import KEPT, Capture, pack, unpack


@given(st.lists(st.binary(max_size=50)))
def test_a_message_is_read_as_it_was_written(fields: list[bytes]) -> None:
    assert unpack(pack(*fields)[4:]) == fields


def test_a_torn_message_is_an_error() -> None:
    with pytest.raises(ValueError, match="torn"):
        unpack(pack(b"abc")[4:-1])


@given(st.text(max_size=200), st.integers(1, 7))
def test_a_short_output_is_kept_as_it_is_however_it_is_cut_into_pieces(text: str, size: int) -> None:
    data = text.encode("utf-8", "replace")
    output = Capture()
    for at in range(0, len(data), size):
        output.feed(data[at : at + size])
    output.finish()
    assert (output.text(), output.length) == (data.decode(), len(data.decode()))


def test_a_flood_keeps_its_head_and_tail_and_counts_the_rest() -> None:
    output = Capture()
    for number in range(400_000):
        output.feed(b"%07d\n" % number)
    text = output.text()
    assert output.length == 3_200_000
    assert text.startswith("0000000\n0000001\n")
    assert text.endswith("0399998\n0399999\n")
    assert f"[... {3_200_000 - 2 * KEPT} characters not kept ...]" in text
    assert len(text) < 2 * KEPT + 100


def test_an_output_of_just_what_is_kept_has_no_gap() -> None:
    output = Capture()
    output.feed(b"x" * KEPT)
    output.feed(b"y" * KEPT)
    assert output.text() == "x" * KEPT + "y" * KEPT


def _framed(data: bytes, size: int) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"\x01\0\0\0" + len(part).to_bytes(4, "big") + part for part in parts)


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 3, 5, 1000])
async def test_a_containers_stream_is_unwrapped_however_it_is_cut(size: int) -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        theirs.sendall(_framed(pack(b"one", b"") + pack(b"two"), size))
        channel = Channel(ours, multiplexed=True)
        assert [await channel.receive(), await channel.receive()] == [[b"one", b""], [b"two"]]
        channel.close()


@pytest.mark.anyio
async def test_a_message_cut_off_by_a_cancellation_is_read_the_next_time() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    message = pack(b"whole")
    with theirs:
        channel = Channel(ours)
        theirs.sendall(message[:7])
        with anyio.move_on_after(0.05):
            await channel.receive()
        theirs.sendall(message[7:])
        assert await channel.receive() == [b"whole"]
        channel.close()


@pytest.mark.anyio
@pytest.mark.parametrize("last", [b"", b"bwrap: no such thing\n"])
async def test_a_box_that_ends_is_a_failure_that_tells_its_last_words(last: bytes) -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    box = SupervisedBox(Channel(ours), "/app")
    theirs.sendall(last)
    theirs.close()
    with pytest.raises(SandboxFailure, match=last.decode().strip() or "ended"):
        await box.start()
    with pytest.raises(SandboxFailure, match=last.decode().strip() or "ended"):
        await box.run("true")
    box._channel.close()
