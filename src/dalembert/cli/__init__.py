"""The command line: one module per command, `main.py` brings them together."""
