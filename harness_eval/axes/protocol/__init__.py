"""Axis protocol: how a call travels from the model to the harness, and its result back."""

from __future__ import annotations

from harness_eval.axes.protocol.base import Protocol, TextProtocol, Wire
from harness_eval.axes.protocol.code import PythonCode, TypescriptCode
from harness_eval.axes.protocol.completion import WorkedCompletion
from harness_eval.axes.protocol.native import Native, NativeSingle
from harness_eval.axes.protocol.text import (
    Dsml,
    FencedBash,
    JsonText,
    WorkedFencedBash,
    WorkedJsonText,
    XmlFunction,
    XmlJson,
)

__all__ = [
    "Dsml",
    "FencedBash",
    "JsonText",
    "Native",
    "NativeSingle",
    "Protocol",
    "PythonCode",
    "TextProtocol",
    "TypescriptCode",
    "Wire",
    "WorkedCompletion",
    "WorkedFencedBash",
    "WorkedJsonText",
    "XmlFunction",
    "XmlJson",
]
