"""A small configuration format; GRAMMAR.md describes it."""

from quickconf.parser import ParseError, parse

__all__ = ["ParseError", "parse"]
