"""Axis protocol: how a call travels from the model to the harness, and its result back."""

from __future__ import annotations

from harness_eval.axes.protocol.base import Protocol, TextProtocol, Wire
from harness_eval.axes.protocol.native import Native, NativeSingle
from harness_eval.axes.protocol.text import Dsml, FencedBash, JsonText, XmlFunction, XmlJson

__all__ = [
    "Dsml",
    "FencedBash",
    "JsonText",
    "Native",
    "NativeSingle",
    "Protocol",
    "TextProtocol",
    "Wire",
    "XmlFunction",
    "XmlJson",
]
