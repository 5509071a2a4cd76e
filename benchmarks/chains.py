"""The spatial chain that all benchmarks share: links of 0.5 m and 1 kg, hinges about y and z in turn, drawn horizontally."""

import numpy as np

import dalembert as da

LENGTH, MASS, WIDTH, GRAVITY = 0.5, 1.0, 0.05, 9.81


def chain(n: int) -> da.Model:
    """n links along x; the links turn at +0.5 and -0.5 rad/s about z in pairs, so that the motion is spatial."""
    model = da.Model(f"chain of {n}", gravity=(0, 0, -GRAVITY))
    inertia = da.inertia.box(MASS, (LENGTH, WIDTH, WIDTH))
    above, velocity, rate = model.ground, np.zeros(3), 0.0
    for k in range(n):
        turns_about_z = k % 2 == 1
        if turns_about_z:
            rate = 0.5 if k % 4 == 1 else -0.5
        omega = np.array([0.0, 0.0, rate])
        pose = {"position": ((k + 0.5) * LENGTH, 0, 0), "angular_velocity": omega}
        centre_velocity = velocity + np.cross(omega, [LENGTH / 2, 0, 0])
        body = model.body(f"link {k + 1}", mass=MASS, inertia=inertia, velocity=centre_velocity, **pose)
        axis = (0, 0, 1) if turns_about_z else (0, 1, 0)
        model.revolute(f"hinge {k + 1}", above, body, at=(k * LENGTH, 0, 0), axis=axis)
        above, velocity = body, velocity + np.cross(omega, [LENGTH, 0, 0])
    return model
