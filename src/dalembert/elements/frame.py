"""Points and frames that are fixed in a body: hardpoints, sensors, points where loads act."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.elements import checks
from dalembert.elements.joint import Place


@dataclass(frozen=True, eq=False, kw_only=True)
class Frame:
    """A frame fixed in a body (or in the ground), drawn in the design position.

    Parameters
    ----------
    name : str
    body : str
    at : Place
        Its origin in the world [m].
    orientation : Rotation or 3x3 array, optional
        From its axes to the world's, in the design position; the world's axes if not given.

    Examples
    --------
    >>> Frame(name="tip", body="arm", at=(1, 0, 0)).at.tolist()
    [1.0, 0.0, 0.0]
    """

    name: str
    body: str
    at: Place
    orientation: Rotation | ArrayLike | None = None

    def __post_init__(self) -> None:
        element = self.element
        if not isinstance(self.at, str):
            object.__setattr__(self, "at", checks.vector(element, "at", self.at))
        object.__setattr__(self, "orientation", checks.rotation(element, "orientation", self.orientation))

    @property
    def element(self) -> str:
        """How errors call this frame."""
        return checks.element_name("frame", self.name)
