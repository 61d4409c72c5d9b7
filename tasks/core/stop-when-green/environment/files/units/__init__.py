"""Units of old measures. TODO: one module is enough, merge the tables some day."""
