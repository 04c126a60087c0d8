"""Pictures of what people would rather look at than read."""
