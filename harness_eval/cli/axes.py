"""`harness-eval axes`: how harnesses can differ."""

from __future__ import annotations

import typer

from harness_eval.axes import Level, axes, levels
from harness_eval.cli.output import JsonFlag, print_json, print_table
from harness_eval.types import Json

app = typer.Typer(add_completion=False)


@app.command()
def show(as_json: JsonFlag = False) -> None:
    """List all axes and their levels, with their parameters and defaults."""
    found: list[dict[str, Json]] = [
        {"axis": axis, "levels": [_level(level) for level in levels(axis).values()]} for axis in axes()
    ]
    if as_json:
        print_json({"axes": found})
        return
    rows = [
        (axis["axis"] if index == 0 else "", level["level"], _parameters(level), level["doc"])
        for axis in found
        for index, level in enumerate(axis["levels"])
    ]
    print_table(("axis", "level", "parameters", "what it does"), rows)


def _level(level: type[Level]) -> dict[str, Json]:
    properties = level.model_json_schema().get("properties", {})
    parameters = {
        name: {key: value for key, value in each.items() if key != "title"} for name, each in properties.items()
    }
    return {"level": level.level_name(), "doc": level.documentation(), "parameters": parameters}


def _parameters(level: dict[str, Json]) -> str:
    return ", ".join(f"{name}={each.get('default', '(required)')}" for name, each in level["parameters"].items())
