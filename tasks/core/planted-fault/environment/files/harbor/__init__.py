"""The package harbor."""
