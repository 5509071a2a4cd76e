"""Mechanical systems from a user's own equations: SymPy expressions or plain functions."""
