"""The compile decorators: ``@compiled``, and ``@inlined`` for small functions inside compiled ones.

Both turn a function into machine code (Numba) and keep the result on disk. Numba notices no edit in another
file than the function's own, so the cache folder is keyed by a hash of all sources of the package: any edit starts a
fresh folder, and folders that no process has used for a month are removed.

The folder is ``$DALEMBERT_CACHE_DIR``, else ``$XDG_CACHE_HOME/dalembert``, else ``~/.cache/dalembert``.
"""

from __future__ import annotations

import functools
import hashlib
import os
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


def _source_hash() -> str:
    """Return the hash of the package's sources and of what compiles them."""
    digest = hashlib.blake2b(f"{sys.version}|{numba.__version__}".encode(), digest_size=10)
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _remove_stale(parent: Path, keep: Path) -> None:
    """Remove cache folders of other versions of the sources that nobody used for a month."""
    for folder in parent.glob("code-*"):
        if folder != keep and time.time() - folder.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def cache_folder() -> Path:
    """Return the folder that holds the machine code of exactly these sources, created if need be."""
    base = os.environ.get("DALEMBERT_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "dalembert"
    folder = Path(base).expanduser() / f"code-{_source_hash()}"
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    _remove_stale(folder.parent, folder)
    return folder


def compiled(function: Function) -> Function:
    """Compile a numerical function on its first call and keep the code on disk for the next process.

    No fast-math, so that NaN is seen; division by zero gives infinity, as in NumPy.

    Examples
    --------
    >>> @compiled
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(3.0)
    6.0
    """
    return _compile(function, inline=False)


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
    return _compile(function, inline=True)


def _compile(function: Function, *, inline: bool) -> Function:
    keep = Path(function.__code__.co_filename).is_file()  # what was typed at a prompt has no file to be kept for
    previous = config.CACHE_DIR
    if keep:
        config.CACHE_DIR = str(cache_folder())  # read once, when the decorator makes its cache
    try:
        return cast(Function, numba.njit(cache=keep, error_model="numpy", forceinline=inline)(function))
    finally:
        config.CACHE_DIR = previous
