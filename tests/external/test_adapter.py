from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from harness_eval.errors import ConfigError
from harness_eval.external.adapter import External, filled, load_external, named_externals
from harness_eval.external.locked import lock_file, read_seen

ADAPTER = """
version: "1.2.3"
wire: chat
install: {npm: {thing: 1.2.3}}
launch:
  command: [thing, "{prompt}"]
  env: {URL: "{base_url}/v1"}
  files: {.thing/settings.json: '{"key": "{key}"}'}
"""


@pytest.mark.parametrize("name", named_externals())
def test_an_adapter_that_travels_is_pinned_and_says_its_licence_and_version(name: str) -> None:
    external = load_external(name)
    assert external.name == name
    assert external.about
    assert external.licence
    assert external.version_command
    assert External.model_validate(external.spec()) == external
    assert external.version in {*external.install.npm.values(), *external.install.pypi.values()}
    assert "{base_url}" in "".join(text for _, text in external.launch.texts())
    assert "{key}" in "".join(text for _, text in external.launch.texts())


def test_each_wire_is_spoken_by_an_adapter_that_travels() -> None:
    assert {load_external(name).wire for name in named_externals()} == {"chat", "responses", "messages"}


def test_a_lock_entry_is_of_the_adapter_that_stands_there() -> None:
    for name, seen in read_seen(lock_file()).items():
        external = load_external(name)
        assert (seen.version, seen.id) == (external.version, external.id), f"harness-eval harness lock {name}"


def test_a_file_anywhere_is_an_adapter_named_after_it(tmp_path: Path) -> None:
    path = tmp_path / "thing.yaml"
    path.write_text(ADAPTER)
    assert load_external(path).name == "thing"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{base_url}", "{base_uri}", "launch: env.URL: {base_uri} is no place; did you mean 'base_url'?"),
        ("wire: chat", "wire: chatt", "wire: 'chatt' is not known; did you mean 'chat'?"),
        ('version: "1.2.3"\n', "", "version: is required"),
        ('version: "1.2.3"', "version: latest", "version: an exact version is needed, such as 1.2.3, not 'latest'"),
        ("thing: 1.2.3", "thing: ^1.2", "install.npm: thing: an exact version is needed, such as 1.2.3, not '^1.2'"),
        ('"{prompt}"', "now", "{prompt} stands nowhere"),
        (".thing/settings.json", "../settings.json", "'../settings.json' is no path below the home folder"),
        ("command:", "comand:", "launch.comand: unknown key; did you mean 'command'?"),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_nearest_choice(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "thing.yaml"
    assert old in ADAPTER
    path.write_text(ADAPTER.replace(old, new))
    with pytest.raises(ConfigError, match=re.escape(said)) as told:
        load_external(path)
    assert str(told.value).startswith(f"{path}: ")


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'claude-code'"):
        load_external("claude-cod")


def test_places_are_filled_once_and_other_braces_stay() -> None:
    text = '{"a": {"b": "{key}"}} ${key} ${HOME} {x=1} {prompt}'
    places = {"key": "k", "prompt": "say {key}"}
    assert filled(text, places) == '{"a": {"b": "k"}} ${key} ${HOME} {x=1} say {key}'


def test_equal_ids_mean_that_the_same_is_run() -> None:
    data = yaml.safe_load(ADAPTER)
    one = External.model_validate({"name": "one", **data})
    assert one.id == External.model_validate({"name": "other", "about": "words", "licence": "MIT", **data}).id
    assert one.id != External.model_validate({"name": "one", **data, "version": "1.2.4"}).id


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        ("command: [x, '${prompt}']", "stands nowhere"),
        ("command: [x, '{prompt}', \"a\\0b\"]", "holds a NUL"),
        ("command: [x, '{prompt}']\n  env: {'A=B': c}", "'A=B' is no name of a variable"),
        ("command: [x, '{prompt}']\n  files: {a: b, a/c: d}", "its place is taken"),
        ("command: [x, '{prompt}']\n  files: {.stdin: b}", "its place is taken"),
        ("command: [x, '{prompt}']\n  files: {'~/a': b}", "no path below the home folder"),
        ("command: [x, '{prompt}']\ninstall: {npm: {'--global': 1.0.0}}", "'--global' is no name of a package"),
        ("command: [x, '{prompt}']\nversion_command: ['{where}/x']", "{where} is no place"),
        ("command: [x, '{prompt}']\nshare: [nowhere]", "nowhere is no folder"),
        ("command: [x, '{prompt}']\nshare: [/usr]", "/usr is too much of this machine"),
    ],
)
def test_what_could_not_be_carried_out_is_said_when_it_is_loaded(tmp_path: Path, launch: str, said: str) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(f"version: 1.0\nwire: chat\nlaunch:\n  {launch}\n")
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_external(path)


def test_a_shared_folder_is_known_by_what_is_in_it_and_not_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # the folders of tests are private
    for place, text in (("one", "a"), ("two", "a"), ("three", "b")):
        program = tmp_path / place / "program"
        (program / "__pycache__").mkdir(parents=True)
        (program / "main.py").write_text(text)
        (program / "__pycache__" / "main.pyc").write_text(place)
        (tmp_path / place / "ours.yaml").write_text(
            "version: 1.0\nwire: chat\nshare: [program]\nlaunch: {command: ['{share}/main.py', '{prompt}']}\n"
        )
        found.append(load_external(tmp_path / place / "ours.yaml"))
    assert found[0].share == (str(tmp_path / "one" / "program"),)
    assert found[0].id == found[1].id != found[2].id
    assert External.model_validate(found[0].spec()) == found[0]
