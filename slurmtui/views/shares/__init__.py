"""Fair-share and limits."""
