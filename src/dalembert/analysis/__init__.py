"""Analyses: what a person asks of a model."""
