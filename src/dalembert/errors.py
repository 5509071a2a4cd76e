"""The exceptions of dalembert.

Every error that a user can cause derives from `DalembertError`. Its text names the element, says what is wrong with it
and what would mend it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import NamedTuple


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


class Mistake(NamedTuple):
    """One mistake in a model file: where it is, what is wrong and what would mend it."""

    file: str
    line: int
    element: str
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.element}: {self.problem}" + (f"; {self.remedy}" if self.remedy else "")


class ModelFileError(DalembertError, ValueError):
    """A model file cannot be read; all mistakes that were found are listed, in the order of their lines.

    Parameters
    ----------
    mistakes : sequence of Mistake
        At least one. Its `file`, `line`, `element`, `problem` and `remedy` are those of the error.

    Examples
    --------
    >>> raise ModelFileError([Mistake("pendulum.yaml", 12, "joints.hinge.axis", "axis has length zero")])
    Traceback (most recent call last):
        ...
    dalembert.errors.ModelFileError: pendulum.yaml:12: joints.hinge.axis: axis has length zero
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: mistake.line))
        self.file, self.line, self.element, self.problem, self.remedy = self.mistakes[0]
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))

    def __reduce__(self) -> tuple[type[ModelFileError], tuple[tuple[Mistake, ...]]]:
        return type(self), (self.mistakes,)


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
