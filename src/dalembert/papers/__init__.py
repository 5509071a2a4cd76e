"""The examples of the papers that this library stands on: models, and their printed figures beside ours.

Each module has ``figures()``, which yields `figures.Figure`, and ``draw(folder)``, which makes pictures like those of the
paper.
"""

from importlib import import_module
from types import ModuleType

PAPERS = {
    "peng2024": "Peng, Tasora, Fusai, Mangoni: tangent stiffness of holonomic constraints",
    "masarati2011": "Masarati: constraints on purely differential dynamics",
    "udwadia2010": "Udwadia, Schutte: singular mass matrices, constraint forces that do work",
    "wojtyra2013": "Wojtyra, Fraczek: solvability of reactions with redundant nonholonomic constraints",
    "metzger2010": "Metzger, Faruk Senan, O'Reilly: Cartesian stiffness matrices",
}


def module_of(paper: str) -> ModuleType:
    """Return the module of a paper."""
    return import_module(f"dalembert.papers.{paper}")
