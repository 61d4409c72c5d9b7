"""Version 3: names in two parts, towns in a table of their own, currencies."""


def migrate(connection):
    """Bring a database of version 2 to version 3, or leave it as it is.

    The connection commits by itself (`isolation_level` None) and has foreign keys switched on, which must be so afterwards too.
    Raises `migrations.Refused`.
    """
    raise NotImplementedError
