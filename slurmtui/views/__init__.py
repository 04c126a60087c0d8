"""The views of the console, one package each."""
