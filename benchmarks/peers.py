"""The chain and the ladder in other packages; each returns seconds and where the chain's fourth link (or the tip) ends.

exudyn: rigid bodies with Euler parameters, revolute joints, generalized-alpha of index 3, spectral radius 0.9. mujoco (RK4)
and drake (its discrete solver) work in minimal coordinates: an easier problem, for orientation.
"""

import time

import numpy as np
from chains import GRAVITY, LENGTH, MASS, WIDTH
from ladder import RODS_INERTIA, rods_and_hinges

INERTIA = MASS / 12 * np.array([2 * WIDTH**2, LENGTH**2 + WIDTH**2, LENGTH**2 + WIDTH**2])


def joint_rates(n):
    """Rates of the hinges at the start: the links turn at +0.5 and -0.5 rad/s about z in pairs."""
    rates, before = np.zeros(n), 0.0
    for k in range(1, n, 2):
        rate = 0.5 if k % 4 == 1 else -0.5
        rates[k], before = rate - before, rate
    return rates


def exudyn_chain(n, steps, h):
    import exudyn as exu
    import exudyn.utilities as eu

    exu.config.printToConsole = False
    mbs = exu.SystemContainer().AddSystem()
    above, bodies = mbs.CreateGround(), []
    inertia = eu.RigidBodyInertia(mass=MASS, inertiaTensor=np.diag(INERTIA))
    rate, velocity = 0.0, np.zeros(3)
    for k in range(n):
        if k % 2:
            rate = 0.5 if k % 4 == 1 else -0.5
        omega = np.array([0, 0, rate])
        body = mbs.CreateRigidBody(
            inertia=inertia,
            referencePosition=[(k + 0.5) * LENGTH, 0, 0],
            initialVelocity=list(velocity + np.cross(omega, [LENGTH / 2, 0, 0])),
            initialAngularVelocity=list(omega),
            gravity=[0, 0, -GRAVITY],
            nodeType=exu.NodeType.RotationEulerParameters,
            graphicsDataList=[exu.graphics.Basis(length=0.01)],
        )
        axis = [0, 0, 1] if k % 2 else [0, 1, 0]
        mbs.CreateRevoluteJoint(bodyNumbers=[above, body], position=[k * LENGTH, 0, 0], axis=axis)
        velocity = velocity + np.cross(omega, [LENGTH, 0, 0])
        above = body
        bodies.append(body)
    mbs.Assemble()
    seconds = _exudyn_solve(exu, mbs, steps, h, exu.LinearSolverType.EigenSparse)
    body = bodies[min(4, n) - 1]
    place = exu.OutputVariableType.Position
    return seconds, np.array(mbs.GetObjectOutputBody(body, place, localPosition=[LENGTH / 2, 0, 0]))


def _exudyn_solve(exu, mbs, steps, h, linear_solver, *, singular=False):
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * h
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    settings.linearSolver.solverType = linear_solver
    settings.linearSolver.ignoreSingularJacobian = singular
    settings.linearSolver.reuseAnalyzedPattern = True
    settings.parallel.numberOfThreads = 1
    begin = time.perf_counter()
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    return time.perf_counter() - begin


def exudyn_ladder(n, steps, h, *, reduced):
    """All hinges in space with the dense solver that copes with redundant rows, or closing hinges reduced by hand."""
    import exudyn as exu
    import exudyn.utilities as eu

    exu.config.printToConsole = False
    mbs = exu.SystemContainer().AddSystem()
    ground, bodies = mbs.CreateGround(), {}
    rods, hinges = rods_and_hinges(n)
    inertia = eu.RigidBodyInertia(mass=1.0, inertiaTensor=np.diag(RODS_INERTIA))
    for name, (middle, angle, velocity, rate) in rods.items():
        bodies[name] = mbs.CreateRigidBody(
            inertia=inertia,
            referencePosition=list(middle),
            referenceRotationMatrix=eu.RotationMatrixZ(angle),
            initialVelocity=list(velocity),
            initialAngularVelocity=[0, 0, rate],
            gravity=[0, -GRAVITY, 0],
            graphicsDataList=[exu.graphics.Basis(length=0.01)],
        )
    tied = {name: name for name in [*rods, "ground"]}

    def root(name):
        while tied[name] != name:
            name = tied[name]
        return name

    for one, other, point in hinges.values():
        numbers = [ground if one == "ground" else bodies[one], bodies[other]]
        closes = root(one) == root(other)
        tied[root(one)] = root(other)
        if reduced and closes:
            mbs.CreateGenericJoint(bodyNumbers=numbers, position=list(point), constrainedAxes=[1, 1, 0, 0, 0, 0])
        else:
            mbs.CreateRevoluteJoint(bodyNumbers=numbers, position=list(point), axis=[0, 0, 1])
    mbs.Assemble()
    solver = exu.LinearSolverType.EigenSparse if reduced else exu.LinearSolverType.EigenDense
    seconds = _exudyn_solve(exu, mbs, steps, h, solver, singular=not reduced)
    place = exu.OutputVariableType.Position
    return seconds, np.array(mbs.GetObjectOutputBody(bodies["post 0"], place, localPosition=[0.5, 0, 0]))


def mujoco_chain(n, steps, h):
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep = h
    spec.option.gravity = [0, 0, -GRAVITY]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    spec.memory = 2**30
    body = spec.worldbody
    for k in range(n):
        place = [LENGTH if k else 0, 0, 0]
        body = body.add_body(
            name=f"link {k}", pos=place, mass=MASS, ipos=[LENGTH / 2, 0, 0], inertia=list(INERTIA), explicitinertial=True
        )
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1] if k % 2 else [0, 1, 0])
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[:] = joint_rates(n)
    begin = time.perf_counter()
    mujoco.mj_step(model, data, steps)
    seconds = time.perf_counter() - begin
    return seconds, chain_end(data.qpos[: min(4, n)])


def drake_chain(n, steps, h):
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia
    from pydrake.systems.analysis import Simulator

    plant = MultibodyPlant(time_step=h)
    centre = np.array([LENGTH / 2, 0, 0])
    inertia = SpatialInertia.MakeFromCentralInertia(mass=MASS, p_PScm_E=centre, I_SScm_E=RotationalInertia(*INERTIA))
    frame = plant.world_frame()
    for k in range(n):
        body = plant.AddRigidBody(f"link {k}", inertia)
        plant.AddJoint(RevoluteJoint(f"hinge {k}", frame, body.body_frame(), [0, 0, 1] if k % 2 else [0, 1, 0]))
        frame = plant.AddFrame(FixedOffsetFrame(f"end {k}", body.body_frame(), RigidTransform([LENGTH, 0, 0])))
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    plant.SetVelocities(context, joint_rates(n))
    simulator.Initialize()
    begin = time.perf_counter()
    simulator.AdvanceTo(steps * h)
    seconds = time.perf_counter() - begin
    return seconds, chain_end(plant.GetPositions(context)[: min(4, n)])


def chain_end(angles):
    """Where the last of these links ends, from the angles of the hinges."""
    R, place = np.eye(3), np.zeros(3)
    for k, angle in enumerate(angles):
        c, s = np.cos(angle), np.sin(angle)
        R = R @ (np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) if k % 2 else np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]))
        place = place + LENGTH * R[:, 0]
    return place
