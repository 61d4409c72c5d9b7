"""A small service that keeps books on a shelf. See PROTOCOL.md."""
