"""Compatibility matrices: models and their servings against harnesses and their versions, from any number of runs."""
