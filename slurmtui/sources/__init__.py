"""Reads: commands, HTTP and files, each answered as models."""
