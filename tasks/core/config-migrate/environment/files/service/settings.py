"""Reads the settings of the service."""

import configparser
from pathlib import Path

SOURCE = Path("config/app.ini")
SECRETS = ("password", "token", "secret")


def load():
    """All settings: an object for each section."""
    parser = configparser.ConfigParser()
    parser.read(SOURCE, encoding="utf-8")
    return {name: dict(parser[name]) for name in parser.sections()}


def masked(section):
    """A copy of a section for printing, secrets replaced by stars."""
    return {name: "***" if name in SECRETS else value for name, value in section.items()}
