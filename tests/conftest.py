"""Hypothesis profiles: the checks are deterministic; `make search` draws at random."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("checks", derandomize=True, deadline=None, max_examples=15, database=None)
settings.register_profile(
    "search", deadline=None, max_examples=400, database=None, suppress_health_check=list(HealthCheck), print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "checks"))
