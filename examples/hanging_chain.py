"""A hanging chain: how it swings, where it rests, how it vibrates; with and without the stiffness of its joints.

Writes its plots and a page, out/index.html, that shows them. The continuous chain has the frequencies j_k/2 sqrt(g/L)/(2 pi),
j_k the zeros of the Bessel function J0; the modes without K_c are all zero.
"""

import base64
import html
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.spatial.transform import Rotation
from scipy.special import jn_zeros

import dalembert as da

mpl.use("Agg")

LINKS, LENGTH, MASS, GRAVITY, SLOPE = 40, 2.0, 4.0, 9.81, 20.0
OUT = Path("out")


def chain() -> da.Model:
    """Return a chain of slender links, drawn straight at 20 degrees from the vertical; its hinges turn about y."""
    model = da.Model("hanging chain", gravity=(0, 0, -GRAVITY))
    link, mass = LENGTH / LINKS, MASS / LINKS
    turn = Rotation.from_euler("y", -SLOPE, degrees=True)
    above = model.ground
    for k in range(LINKS):
        inertia = da.inertia.rod(mass, link, axis="z")
        middle = turn.apply([0, 0, -(k + 0.5) * link])
        body = model.body(f"link {k + 1}", mass=mass, inertia=inertia, position=middle, orientation=turn)
        model.revolute(f"hinge {k + 1}", above, body, at=turn.apply([0, 0, -k * link]), axis=(0, 1, 0))
        above = body
    return model


def page(title: str, text: str, pictures: list[Path]) -> str:
    """Return a self-contained HTML page."""
    images = [base64.b64encode(path.read_bytes()).decode() for path in pictures]
    shown = "".join(f'<p><img style="max-width:100%" src="data:image/png;base64,{image}"></p>' for image in images)
    style = "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}pre{background:#f4f4f4;padding:1em}"
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{style}</style>'
    return f"<!doctype html><html><head>{head}</head><body><h1>{title}</h1><pre>{html.escape(text)}</pre>{shown}</body></html>"


def main() -> None:
    """Simulate, rest, vibrate; print, draw, write the page."""
    model = chain()
    run = da.simulate(model, duration=10.0)
    rest = da.equilibrium(model)
    found, without = da.modes(model, 5), da.modes(model, 5, without_constraint_stiffness=True)
    tip = rest.position.sel(body=f"link {LINKS}", axis="z")
    lines = [
        f"{model.name}: {LINKS} links, {LENGTH:g} m, {MASS:g} kg",
        f"simulated: {run.attrs['steps']:.0f} steps of {run.attrs['method'].split(',')[0]}, {run.attrs['wall_time']:.2f} s,"
        f" largest violation {float(run.constraint_violation.max()):.0e}",
        f"at rest: stable {rest.stable}, {rest.iterations} iterations, middle of the last link at {float(tip):.6f} m,"
        f" upper hinge carries {float(np.linalg.norm(rest.joint_force[0])):.4f} N of {MASS * GRAVITY:.4f} N",
        "mode   f [Hz]   continuous chain [Hz]   without K_c [Hz]",
    ]
    exact = jn_zeros(0, 5) / 2 * np.sqrt(GRAVITY / LENGTH) / (2 * np.pi)
    for k in range(5):
        lines.append(f"{k + 1:4d}{found.frequency_hz.values[k]:9.4f}{exact[k]:24.4f}{without.frequency_hz.values[k]:19.4f}")
    text = "\n".join(lines)
    print(text)
    OUT.mkdir(exist_ok=True)
    pictures = {"run.png": run.plot(bodies=[f"link {LINKS}"], joints=["hinge 1"]), "modes.png": found.plot()}
    for name, figure in pictures.items():
        figure.savefig(OUT / name, dpi=110)
    da.save_run(run, OUT / "hanging_chain.nc")
    (OUT / "index.html").write_text(page(model.name, text, [OUT / name for name in pictures]), encoding="utf-8")
    print(f"written: {', '.join(str(OUT / name) for name in (*pictures, 'hanging_chain.nc', 'index.html'))}")


if __name__ == "__main__":
    main()
