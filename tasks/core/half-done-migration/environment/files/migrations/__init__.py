"""Migrations, each a module with a function `migrate(connection)`."""

MIGRATIONS = {3: "migrations.m003"}


class Refused(Exception):
    """The database cannot be migrated as it is."""
