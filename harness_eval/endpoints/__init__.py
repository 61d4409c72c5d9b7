"""Served models: what a user says about them, and one seam that answers requests."""
