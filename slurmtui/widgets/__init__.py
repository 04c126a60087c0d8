"""Widgets that know strings, keys and style names, not facts."""
