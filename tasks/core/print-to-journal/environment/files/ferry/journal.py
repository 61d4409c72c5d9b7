"""The journal: entries that programs can read."""


class Journal:
    """Gives each entry, a dictionary, to `sink`."""

    def __init__(self, sink, fields=None):
        self._sink = sink
        self._fields = dict(fields or {})

    def within(self, **fields):
        """A journal with the same sink whose entries all have these fields as well."""
        return Journal(self._sink, {**self._fields, **fields})

    def debug(self, event, **fields):
        """Of interest to those who look for a fault."""
        self._record("debug", event, fields)

    def info(self, event, **fields):
        """What usually happens."""
        self._record("info", event, fields)

    def warning(self, event, **fields):
        """What somebody should look at."""
        self._record("warning", event, fields)

    def error(self, event, **fields):
        """What went wrong."""
        self._record("error", event, fields)

    def _record(self, level, event, fields):
        self._sink({"level": level, "event": event, **self._fields, **fields})


NOWHERE = Journal(lambda entry: None)
