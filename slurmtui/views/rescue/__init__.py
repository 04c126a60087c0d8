"""What is to be rescued."""
