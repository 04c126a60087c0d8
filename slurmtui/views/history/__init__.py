"""Jobs that have ended."""
