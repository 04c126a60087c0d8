"""Reading log files."""
