#!/bin/bash
set -euo pipefail
cat > gauge/codec.py <<'PYTHON'
"""Frames of the tide gauges; notes/ has the minutes in which their format was decided."""


def encode(reading):
    """The frame for a reading, as bytes. Raises ValueError for what its field cannot hold."""
    if reading["sequence"] < 0:
        raise ValueError(f"sequence {reading['sequence']}")
    temperature = reading["temperature_tenths"]
    if temperature is not None and not 0 <= temperature + 500 < 0xFFFF:
        raise ValueError(f"temperature {temperature}")
    warmth = 0xFFFF if temperature is None else temperature + 500
    if reading["battery_mv"] < 0:
        raise ValueError(f"battery {reading['battery_mv']}")
    summed = bytes([reading["sequence"] % 200])
    try:
        summed += reading["level_mm"].to_bytes(3, "little", signed=True)
        summed += reading["station"].to_bytes(2, "big")
        summed += warmth.to_bytes(2, "little")
        summed += (reading["battery_mv"] // 50).to_bytes(1, "little")
    except OverflowError as error:
        raise ValueError(str(error)) from error
    return bytes([0x54, 0x38]) + summed + bytes([(17 + sum(summed)) % 256])
PYTHON
cat > layout.json <<'JSON'
[
  ["magic", 0, 1],
  ["version", 1, 1],
  ["sequence", 2, 1],
  ["level", 3, 3],
  ["station", 6, 2],
  ["temperature", 8, 2],
  ["battery", 10, 1],
  ["checksum", 11, 1]
]
JSON
