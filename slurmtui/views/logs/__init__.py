"""The Logs view, and the pane with a log that every view has."""
