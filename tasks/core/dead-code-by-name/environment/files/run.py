"""Reports about water levels: python3 run.py all | list | check | one NAME"""

import importlib
import sys
from pathlib import Path

from weir import exporters, settings, source, steps, templates


def report(path):
    """The text of one report."""
    conf = settings.read(path)
    rows = source.load(Path("data", conf["source"]))
    for name in settings.names(conf["steps"]):
        rows = getattr(steps, "step_" + name.replace("-", "_"))(rows)
    body = exporters.EXPORTERS[conf["export"]](rows)
    values = {"name": path.stem, "rows": len(rows), "top": max(level for _, level in rows), "body": body}
    text = templates.render(conf["template"], values)
    if "after" in conf:
        module, _, function = conf["after"].partition(":")
        text += getattr(importlib.import_module(module), function)(rows)
    return text


def cmd_all(words):
    """All reports."""
    for path in sorted(Path("conf").glob("*.conf")):
        print(report(path))


def cmd_list(words):
    """The names of all reports."""
    print("\n".join(sorted(path.stem for path in Path("conf").glob("*.conf"))))


def cmd_check(words):
    """Whether all configurations are complete."""
    for path in sorted(Path("conf").glob("*.conf")):
        print(path.stem, settings.missing(settings.read(path)) or "complete")


def cmd_one(words):
    """One report."""
    print(report(Path("conf", words[0] + ".conf")))


COMMANDS = {name[4:]: value for name, value in list(globals().items()) if name.startswith("cmd_")}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](sys.argv[2:])
