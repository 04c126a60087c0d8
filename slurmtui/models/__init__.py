"""Facts: frozen structs and the pure functions that read them. No I/O here."""
