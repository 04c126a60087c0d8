"""The compute nodes."""
