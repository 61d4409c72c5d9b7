"""`harness-eval tasks new`: ordinary task folders, made from templates by a seed, or from the rows of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.errors import ConfigError
from harness_eval.rows import is_mapping, materialise
from harness_eval.templates import Instance, load_template, template_names, write_instances
from harness_eval.types import Json

_Templates = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TEMPLATE|MAPPING.yaml]...",
        help="Bundled templates, or paths of others, or mapping files of data sets; default: all bundled templates.",
    ),
]


def _folder(text: str) -> Path:
    """The folder of that name, which need not exist; "" would be the current one."""
    if not text.strip():
        raise typer.BadParameter("it is empty; name a folder")
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise typer.BadParameter("it is a file; name a folder")
    return path


_Out = Annotated[
    Path, typer.Option(parser=_folder, metavar="DIRECTORY", help="The folder that gets them; it may exist.")
]
_Seed = Annotated[
    int | None,
    typer.Option(
        min=0, help="For templates: the same seed gives the same instances. Without it: 1.", show_default=False
    ),
]
_Count = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1000,
        help="For templates: how many of each; a larger number later adds more. Without it: 1.",
        show_default=False,
    ),
]


def new(
    out: _Out,
    templates: _Templates = None,
    seed: _Seed = None,
    instances: _Count = None,
    as_json: JsonFlag = False,
) -> None:
    """Make new tasks from templates by a seed. What stands in the folder is kept; nothing is overwritten.

    A template is a Python file, and it runs on this machine without a sandbox: name only those that you trust.

    A mapping file makes a task of each row, of as many as its key `limit` says; exit code 1 if a row becomes none.
    """
    names = templates or template_names()
    _refuse_draws_of_rows(names, {"--seed": seed, "--instances": instances})
    loaded = [load_template(name) for name in names if not is_mapping(name)]
    made = [
        each
        for template in loaded
        for each in write_instances(template, 1 if seed is None else seed, instances or 1, out)
    ]
    unusable: list[dict[str, Json]] = []
    for mapping in (Path(name) for name in names if is_mapping(name)):
        from_rows = materialise(mapping, out)
        made += [Instance(mapping.stem, folder, folder in from_rows.kept) for folder in from_rows.tasks]
        unusable += [
            {"mapping": str(mapping), "row": row.number, "name": row.name, "reason": row.reason}
            for row in from_rows.unusable
        ]
    if as_json:
        print_json({"tasks": [_summary(each) for each in made], "unusable": unusable, "out": str(out)})
    else:
        print_table(("template", "task", "kept"), ((i.template, i.folder, "yes" if i.kept else "") for i in made))
    for row in unusable:
        say(f"{row['mapping']}: row {row['row']} ({row['name']}) cannot become a task: {row['reason']}")
    say(f"next: harness-eval tasks check {out}; harness-eval run --suite {out}")
    raise typer.Exit(1 if unusable else 0)


def _refuse_draws_of_rows(names: Iterable[str], given: Mapping[str, int | None]) -> None:
    mapping = next((name for name in names if is_mapping(name)), None)
    flag = next((flag for flag, value in given.items() if value is not None), None)
    if mapping and flag:
        raise ConfigError(
            f"{flag}: belongs to templates; {mapping} makes a task of each row (its key `limit` says of how many), so "
            "call `tasks new` for it alone"
        )


def _summary(instance: Instance) -> dict[str, object]:
    return {"template": instance.template, "folder": str(instance.folder), "kept": instance.kept}
