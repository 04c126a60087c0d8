"""One registry of actions feeds keys, footer, help, palette and docs/keys.md."""
