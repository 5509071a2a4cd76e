"""Formulations: from a system and its state to accelerations and multipliers."""
