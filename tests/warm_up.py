"""Compile everything once, so that parallel test workers find it in the cache; prints how long it took."""

import time

START = time.perf_counter()

import numpy as np  # noqa: E402

import dalembert as da  # noqa: E402
from random_models import coupled, errors, force_errors, one_force, one_joint  # noqa: E402

rng = np.random.default_rng(0)
errors(da.build(coupled(rng)), rng)
for kind in ("universal", "distance"):
    errors(da.build(one_joint(rng, kind, law="harmonic")), rng)
force_errors(da.build(one_force(rng, "spring")), rng)
print(f"compiled or loaded in {time.perf_counter() - START:.1f} s")
