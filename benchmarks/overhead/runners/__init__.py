"""Programs that are measured, each a process of its own. Those of peers run in environments without this package."""
