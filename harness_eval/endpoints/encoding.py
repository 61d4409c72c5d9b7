"""A response body decompressed piece by piece, so that a few bytes cannot become gigabytes at once."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_PIECE = 1 << 16  # bytes
_EITHER = zlib.MAX_WBITS | 32  # the header says whether it is gzip or zlib
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})


class BadEncoding(OSError):
    """The body is not encoded in the way that its header says, or in one that is not read here."""


class PlainBody:
    """Takes a body as it travels and gives what it says; none, or one layer, of gzip or deflate.

    Raises:
        BadEncoding: any other encoding was named.
    """

    def __init__(self, encoding: str) -> None:
        named = [part for part in encoding.lower().replace(" ", "").split(",") if part not in ("", "identity")]
        if len(named) > 1 or not _COMPRESSED.issuperset(named):
            # Not cut and not escaped: it may repeat a key, which would not be found in it then.
            raise BadEncoding(f"a body in an encoding which was not asked for: {encoding}")
        self._decompress = zlib.decompressobj(_EITHER) if named else None

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What these bytes say, in pieces of at most 64 KiB where they are compressed.

        Raises:
            BadEncoding: they are not what the header says.
        """
        if self._decompress is None:
            yield data
            return
        while data and not self._decompress.eof:
            try:
                piece = self._decompress.decompress(data, _PIECE)
            except zlib.error as error:
                raise BadEncoding("a compressed body that cannot be read") from error
            data = self._decompress.unconsumed_tail
            if piece:
                yield piece
