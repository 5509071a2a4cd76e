"""The exceptions of dalembert.

Every error that a user can cause derives from `DalembertError`. Its text names the element, says what is wrong with it
and what would mend it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DalembertError(Exception):
    """Base of all errors raised on purpose by dalembert."""


class ModelError(DalembertError, ValueError):
    """The description of a model makes no sense.

    Parameters
    ----------
    element : str
        What is wrong, as the user named it: ``"body 'bob'"``, ``"joint 'hinge'"``.
    problem : str
        What is wrong with it.
    remedy : str, optional
        What would mend it.

    Examples
    --------
    >>> raise ModelError("body 'bob'", "the mass is negative (-1 kg)", "give a mass of zero or more")
    Traceback (most recent call last):
        ...
    dalembert.errors.ModelError: body 'bob': the mass is negative (-1 kg); give a mass of zero or more
    """

    def __init__(self, element: str, problem: str, remedy: str = "") -> None:
        self.element = element
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{element}: {problem}" + (f"; {remedy}" if remedy else ""))


class SolveError(DalembertError, ArithmeticError):
    """A system of equations has no trustworthy solution; the text says which and why."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the nearest known one, or all of them if none is near.

    Examples
    --------
    >>> nearest("hinje", ["hinge", "slider"])
    "did you mean 'hinge'?"
    >>> nearest("x", ["hinge", "slider"])
    "known are 'hinge', 'slider'"
    """
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "none is known yet"
    return "known are " + ", ".join(repr(other) for other in names[:12]) + (" ..." if len(names) > 12 else "")
