"""The Clusters view."""
