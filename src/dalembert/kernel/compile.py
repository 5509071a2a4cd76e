"""The compile decorators: ``@compiled``, ``@inlined`` for small functions inside compiled ones, ``@allocating``.

They turn a function into machine code (Numba) and keep the result on disk. Numba notices no edit in another
file than the function's own, so each module has a cache folder keyed by a hash of its source and of all sources of the package
that it imports, directly or not: an edit starts fresh folders for what depends on it and for nothing else. Folders that no
process has used for a month are removed.

The folders are in ``$DALEMBERT_CACHE_DIR``, else ``$XDG_CACHE_HOME/dalembert``, else ``~/.cache/dalembert``.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_DISABLED = bool(config.DISABLE_JIT)
"""True when NUMBA_DISABLE_JIT is set: every kernel then runs as plain Python."""

_STALE_SECONDS = 30 * 24 * 3600.0


_PACKAGE = Path(__file__).parents[1]

_IMPORT = re.compile(r"^[ \t]*from dalembert\.?([.\w]*) import (\([^)]*\)|[^\n(]*)", re.MULTILINE)


def _module_file(name: str) -> Path | None:
    """Return the source of a module given by its name below the package, if there is one."""
    path = _PACKAGE.joinpath(*name.split(".")).with_suffix(".py")
    return path if path.is_file() else None


@functools.cache
def _imports(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Return the source of a module and the modules of the package that it names in its imports."""
    source = path.read_bytes()
    names: set[str] = set()
    for parent, imported in _IMPORT.findall(source.decode()):
        names.add(parent)
        names.update(f"{parent}.{word}".strip(".") for word in re.findall(r"\w+", imported))
    files = {file for name in names if name and (file := _module_file(name))}
    return source, tuple(sorted(files))


def _source_hash(path: Path) -> str:
    """Return the hash of a module, of all that it imports, and of what compiles them."""
    found, left = {path}, [path]
    while left:
        new = set(_imports(left.pop())[1]) - found
        found |= new
        left += new
    digest = hashlib.blake2b(f"{sys.version}|{numba.__version__}".encode(), digest_size=10)
    for file in sorted(found):
        digest.update(_imports(file)[0])
    return digest.hexdigest()


def cache_root() -> Path:
    """Return the folder of all machine code."""
    base = os.environ.get("DALEMBERT_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "dalembert"
    return Path(base).expanduser()


@functools.cache
def cache_folder(path: Path) -> Path:
    """Return the folder that holds the machine code of a module, created if need be."""
    folder = cache_root() / f"{path.stem}-{_source_hash(path)}"
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    for other in folder.parent.glob(f"{path.stem}-*"):
        if other != folder and time.time() - other.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def is_cold(path: Path) -> bool:
    """Return whether nothing of a module was compiled before.

    Examples
    --------
    >>> is_cold(Path(__file__))
    True
    """
    return not any(cache_folder(path).rglob("*.nbi"))


def compiled(function: Function) -> Function:
    """Compile a numerical function on its first call and keep the code on disk for the next process.

    No fast-math, so that NaN is seen; division by zero gives infinity, as in NumPy. The function works on arrays that it is
    given and allocates nothing: Numba's counting of references, which costs a tuple of arrays microseconds a call, is off.
    ("NRT required but not enabled" means that something allocates: ``np.zeros``, or ``a[:] = b``, for which there is
    `vec3.copy`.)

    Examples
    --------
    >>> @compiled
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(3.0)
    6.0
    """
    return _compile(function)


def inlined(function: Function) -> Function:
    """Compile a small function so that it becomes part of each compiled function that calls it.

    For arithmetic on tuples: arguments and results then stay in registers, and the callers compile in half the time.

    Examples
    --------
    >>> @inlined
    ... def thrice(x: float) -> float:
    ...     return 3.0 * x
    >>> thrice(3.0)
    9.0
    """
    return _compile(function, forceinline=True)


def inner(function: Function) -> Function:
    """Compile a function of large tuples of arrays that only compiled functions call.

    What Python would need to call it, and what `compiled` therefore makes, takes a second each to compile.
    """
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inner_inlined(function: Function) -> Function:
    """Compile a function like `inner` that becomes part of its callers: for the innermost loops."""
    return _compile(function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def allocating(function: Function) -> Function:
    """Compile a function that makes arrays of its own, outside of loops in time.

    Examples
    --------
    >>> import numpy as np
    >>> @allocating
    ... def squares(n: int) -> np.ndarray:
    ...     return np.arange(n) ** 2
    >>> squares(3).tolist()
    [0, 1, 4]
    """
    return _compile(function, _nrt=True)


def _compile(function: Function, *, _nrt: bool = False, **options: bool) -> Function:
    path = Path(function.__code__.co_filename)
    keep = path.is_file()  # what was typed at a prompt has no file to be kept for
    previous = config.CACHE_DIR
    if keep:
        config.CACHE_DIR = str(cache_folder(path))  # read once, when the decorator makes its cache
    try:
        return cast(
            Function, numba.njit(cache=keep, error_model="numpy", _nrt=_nrt, **({"no_cfunc_wrapper": True} | options))(function)
        )
    finally:
        config.CACHE_DIR = previous
