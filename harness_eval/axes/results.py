"""Axis results: in which role and frame a result comes back."""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import ClassVar
from xml.sax.saxutils import quoteattr

from harness_eval.axes.level import Level
from harness_eval.types import Observation


class Results(Level):
    """How results are framed. Native protocols use the wire's tool role, text protocols the user's."""

    axis: ClassVar[str] = "results"

    @abstractmethod
    def frame(self, tool: str, observation: Observation) -> str:
        """One observation as the model reads it."""


class ToolMessage(Results):
    """The bare output in the wire's own tool role."""

    def frame(self, tool: str, observation: Observation) -> str:
        """The text alone."""
        return observation.shown


class UserMessage(Results):
    """The output in a user message, under a line that names the tool."""

    def frame(self, tool: str, observation: Observation) -> str:
        """A heading line, then the text."""
        return f"{'Error' if observation.failed else 'Result'} of {tool or 'the call'}:\n{observation.shown}"


class XmlEnvelope(Results):
    """The output inside of an element that names the tool and says whether it failed."""

    def frame(self, tool: str, observation: Observation) -> str:
        """The element."""
        status = "error" if observation.failed else "ok"
        return f'<tool_result tool={quoteattr(tool)} status="{status}">\n{observation.shown}\n</tool_result>'


class JsonRecord(Results):
    """The output as a field of a JSON object."""

    def frame(self, tool: str, observation: Observation) -> str:
        """The object on one line."""
        return json.dumps({"tool": tool, "failed": observation.failed, "output": observation.shown}, ensure_ascii=False)
