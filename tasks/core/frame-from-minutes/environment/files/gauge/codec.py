"""Frames of the tide gauges; notes/ has the minutes in which their format was decided."""


def encode(reading):
    """The frame for a reading, as bytes. Raises ValueError for what its field cannot hold."""
    raise NotImplementedError
