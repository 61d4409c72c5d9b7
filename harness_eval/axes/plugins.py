"""Levels from outside of the package: modules that are imported so that their classes register themselves."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import entry_points

from harness_eval.errors import BoundaryFailure, ConfigError, boundary

GROUP = "harness_eval.levels"
VARIABLE = "HARNESS_EVAL_PLUGINS"


def load_plugins() -> None:
    """Import the modules named by installed packages (entry point group) and by the environment variable.

    Raises:
        ConfigError: if one of them cannot be imported; names it and where it was named.
    """
    named = {entry.value: f"entry point {entry.name!r}" for entry in entry_points(group=GROUP)}
    named |= {name.strip(): VARIABLE for name in os.environ.get(VARIABLE, "").split(",") if name.strip()}
    for module, where in named.items():
        try:
            with boundary("harness"):
                import_module(module.partition(":")[0])
        except BoundaryFailure as error:
            raise ConfigError(f"{where}: the plugin {module!r} cannot be imported: {error}") from error
