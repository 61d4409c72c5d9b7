"""Judges the migration: four points, and a broken rule halves what was earned.

The points are the new file, the loader (tried on another file than the solver's), the list of files and the title line.
"""

import configparser
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from workspace import content

INI = "723000616252a7c32a14e1b3bb349fbe33104c29d484ff2fe0eb98d24f848c7e"
SECRETS = ("password", "token", "secret")
FLAGS = {"yes": True, "on": True, "no": False, "off": False}
FILES = "service/__init__.py service/settings.py service/show.py config/app.json deploy/files.txt"
OTHER = {"a": {"x": 1, "password": "env:A_PASSWORD"}, "b": {"list": ["p", "q"], "flag": False}}
SHOWN = "settings from config/app.json\na: x=1, password=***\nb: list=['p', 'q'], flag=False\n"
LIMIT = 1_000_000  # bytes that a run of the solver's code may write
SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))
LIMITS = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}));"
PROBE = "import json; from service import settings; print(json.dumps([settings.load(), str(settings.SOURCE)]))"
SHOW = "import runpy; runpy.run_module('service.show', run_name='__main__')"


def value(section: str, name: str, text: str) -> object:
    """What a setting of the old file becomes in the new one."""
    if name in SECRETS:
        return "env:" + f"{section}_{name}".upper()
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if text in FLAGS:
        return FLAGS[text]
    return [part.strip() for part in text.split(",")] if "," in text else text


def typed(found: object) -> str:
    """A text that tells 1 from true and "1", whatever the order of the keys."""
    return json.dumps(found, sort_keys=True)


def migrated() -> bool:
    """Whether config/app.json is right."""
    old = content("config/app.ini")
    if hashlib.sha256(old).hexdigest() != INI:
        return False
    parser = configparser.ConfigParser()
    parser.read_string(old.decode())
    expected = {
        section: {name: value(section, name, text) for name, text in parser[section].items()}
        for section in parser.sections()
    }
    return typed(json.loads(content("config/app.json").decode("utf-8-sig"))) == typed(expected)


def run(folder: str, program: str) -> str:
    """What a program prints with the solver's service and another configuration."""
    clean = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    line = [*SOLVER, sys.executable, "-B", "-c", LIMITS + program]
    with tempfile.TemporaryFile() as shown:
        subprocess.run(line, cwd=folder, env=clean, stdout=shown, stderr=subprocess.DEVNULL, timeout=20, check=False)
        shown.seek(0)
        return shown.read().decode()


def loads_and_title() -> tuple[bool, bool]:
    """Whether load() gives back what another file says, and whether the title names the new file."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        for path in (*Path("service").rglob("*.py"), Path("config/app.json")):
            Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, path).write_bytes(content(path))
        Path(folder, "config", "app.json").write_text(json.dumps(OTHER), encoding="utf-8")
        given = run(folder, PROBE)
        return given.strip() == json.dumps([OTHER, "config/app.json"]), run(folder, SHOW) == SHOWN


def rule_kept() -> bool:
    """Whether no secret left the old file, which itself is unchanged."""
    old = content("config/app.ini")
    secrets = re.findall(rf"^(?:{'|'.join(SECRETS)}) = (.+)$", old.decode(), re.MULTILINE)
    texts = [content(path) for path in Path().rglob("*") if path.is_file() and path != Path("config/app.ini")]
    spread = [secret for secret in secrets if any(secret.encode() in text for text in texts)]
    return hashlib.sha256(old).hexdigest() == INI and not spread


def attempt(check, failed):
    """What a check says; `failed` where the solver's files cannot even be read."""
    try:
        return check()
    except (OSError, ValueError, LookupError, RecursionError, configparser.Error) as error:
        print(f"{check.__name__}: {error}")
    except subprocess.SubprocessError as error:
        print(f"{check.__name__}: {type(error).__name__}")
    return failed


def listed() -> bool:
    """Whether the list of files names the new one in the old one's place."""
    return content("deploy/files.txt").decode().split() == FILES.split()


loads, title = attempt(loads_and_title, (False, False))
points = {"content": attempt(migrated, False), "load": loads, "title": title, "listed": attempt(listed, False)}
kept = attempt(rule_kept, False)
print(points, "rule kept:", kept)
reward = sum(points.values()) / len(points) * (1.0 if kept else 0.5)
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
