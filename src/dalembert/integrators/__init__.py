"""Integration in time that stays on the constraints."""
