"""A hanging chain: from its description to its reactions and its modes, with and without K_c.

Writes out/hanging_chain.png. The continuous chain has the frequencies j_k/2 sqrt(g/L), j_k the zeros of the Bessel function J0.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.linalg import eig, null_space
from scipy.special import jn_zeros

import dalembert as da

mpl.use("Agg")
import matplotlib.pyplot as plt

LINKS, LENGTH, MASS, GRAVITY = 40, 2.0, 4.0, 9.81


def chain() -> da.Model:
    """Return a chain of slender links that hangs straight down; its hinges turn about y."""
    model = da.Model("hanging chain", gravity=(0, 0, -GRAVITY))
    link, mass = LENGTH / LINKS, MASS / LINKS
    above = model.ground
    for k in range(LINKS):
        inertia = da.inertia.rod(mass, link, axis="z")
        body = model.body(f"link {k + 1}", mass=mass, inertia=inertia, position=(0, 0, -(k + 0.5) * link))
        model.revolute(f"hinge {k + 1}", above, body, at=(0, 0, -k * link), axis=(0, 1, 0))
        above = body
    return model


def modes(system: da.System, multipliers: np.ndarray, *, with_constraints: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [Hz] and shapes on the null space of A at the design position."""
    q, v = system.design.q, system.design.v
    Z = null_space(system.jacobian(0.0, q).toarray())
    K = Z.T @ system.stiffness(0.0, q, v, multipliers, with_constraints=with_constraints).toarray() @ Z
    values, vectors = eig(K, Z.T @ system.mass().toarray() @ Z)
    order = np.argsort(values.real)
    return np.sqrt(values.astype(complex)).real[order] / (2 * np.pi), (Z @ vectors.real)[:, order]


def plot(shapes: np.ndarray, frequencies: np.ndarray, path: Path) -> None:
    """Draw the first four modes."""
    z = -(np.arange(LINKS) + 0.5) * LENGTH / LINKS
    figure, axes = plt.subplots(1, 4, sharey=True, figsize=(9, 4), layout="constrained")
    for k, ax in enumerate(axes):
        x = shapes[0::6, k]
        ax.plot(x / np.abs(x).max(), z, "o-", markersize=3)
        ax.axvline(0.0, color="0.8", zorder=0)
        ax.set(title=f"{frequencies[k]:.3f} Hz", xlabel="x, scaled", xlim=(-1.2, 1.2))
    axes[0].set_ylabel("z [m]")
    figure.suptitle(f"Modes of a hanging chain of {LINKS} links")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Print the model, its reactions and its frequencies; draw the modes."""
    model = chain()
    print("\n".join(str(model).splitlines()[:4]), "\n  ...")
    system = da.build(model)
    q, v = system.design.q, system.design.v
    print(f"{system.n_velocities} velocities, {system.n_constraints} constraints\n")
    solution = da.accelerations(system, 0.0, q, v)
    top = system.reaction("hinge 1", 0.0, q, solution.multipliers).force
    print(f"largest acceleration {np.abs(solution.acceleration).max():.1e}: the chain rests")
    print(f"top hinge carries {np.linalg.norm(top):.6f} N, the weight is {MASS * GRAVITY:.6f} N\n")
    with_K, shapes = modes(system, solution.multipliers, with_constraints=True)
    without_K, _ = modes(system, solution.multipliers, with_constraints=False)
    continuous = jn_zeros(0, 4) / 2 * np.sqrt(GRAVITY / LENGTH) / (2 * np.pi)
    print("mode   with K_c   without K_c   continuous chain [Hz]")
    for k in range(4):
        print(f"{k + 1:4d} {with_K[k]:10.5f} {without_K[k]:13.5f} {continuous[k]:12.5f}")
    path = Path("out/hanging_chain.png")
    plot(shapes, with_K, path)
    print(f"\nwrote {path}")


if __name__ == "__main__":
    main()
