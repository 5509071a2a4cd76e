"""Runs in files: NetCDF, written whole or not at all, with the checkpoint from which an unfinished run goes on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import DalembertError, SolveError
from dalembert.kernel.vec3 import Array

if TYPE_CHECKING:
    import xarray as xr

    from dalembert.analysis.results import Run

CHECKPOINT = "checkpoint"
"""The group of the file that holds the checkpoint of an unfinished run."""


class ResultFileError(DalembertError):
    """A run cannot be written to this place, or read from it."""


class NotSavedError(SolveError):
    """What was computed could not be saved; the file holds what was saved before."""


def check_writable(path: str | Path) -> None:
    """Raise `ResultFileError` if no file can be made at a place: better before a long run than after it."""
    target = Path(path)
    try:
        handle, name = _temporary(target)
    except OSError as error:
        raise ResultFileError(f"{target}: cannot be written ({error.strerror}); is there such a folder?") from error
    os.close(handle)
    Path(name).unlink()


def save_run(run: xr.Dataset, path: str | Path, *, model_text: str = "", checkpoint: Mapping[str, Array] | None = None) -> Path:
    """Write a run to a NetCDF file; an older file at the path stays until the new one is complete.

    Parameters
    ----------
    run : xarray.Dataset
        From `simulate`.
    path : path
        Usually ends with ``.nc``.
    model_text : str
        The model file that made it, kept in the attribute ``model``.
    checkpoint : mapping of arrays, optional
        Of an unfinished `Simulation`.

    Raises
    ------
    NotSavedError
        If it cannot be written to its end: the disk is full, for example.
    """
    target = Path(path)
    check_writable(target)
    content = _netcdf(run.assign_attrs(model=model_text) if model_text else run, checkpoint)
    handle, name = _temporary(target)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except OSError as error:
        kept = "; what was saved there before is untouched" if target.exists() else ""
        raise NotSavedError(f"{target}: the run could not be saved ({error.strerror}); is the disk full?{kept}") from error
    finally:
        Path(name).unlink(missing_ok=True)
    return target


def _netcdf(run: xr.Dataset, checkpoint: Mapping[str, Array] | None) -> memoryview:
    """Return the content of the file; made in memory, because HDF5 itself crashes when the disk is full."""
    import xarray as xr

    groups = {"/": xr.Dataset(run.data_vars, coords=run.coords, attrs=run.attrs)}
    if checkpoint is not None:
        groups[CHECKPOINT] = _as_dataset(checkpoint)
    return xr.DataTree.from_dict(groups).to_netcdf(engine="h5netcdf")


def load_run(path: str | Path) -> Run:
    """Read a run from a NetCDF file."""
    from dalembert.analysis.results import Run

    return Run.of(_read(path, None))


def load_checkpoint(path: str | Path) -> dict[str, Array] | None:
    """Read the checkpoint beside an unfinished run; None if the run is complete."""
    data = _read(path, CHECKPOINT)
    return None if data is None else {str(name): np.asarray(values) for name, values in data.data_vars.items()}


def _temporary(target: Path) -> tuple[int, str]:
    return tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")


def _read(path: str | Path, group: str | None) -> Any:
    import h5netcdf
    import xarray as xr

    try:
        with h5netcdf.File(path, "r") as file:
            if group is not None and group not in file.groups:
                return None
        with xr.open_dataset(path, engine="h5netcdf", group=group) as data:
            return data.load()
    except FileNotFoundError as error:
        raise ResultFileError(f"{path}: there is no such file") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise ResultFileError(f"{path}: is not a run ({error})") from error


def _as_dataset(arrays: Mapping[str, Array]) -> xr.Dataset:
    import xarray as xr

    def variable(name: str, array: Array) -> tuple[list[str], Array]:
        return [f"{name}_{k}" for k in range(array.ndim)], array

    return xr.Dataset({name: variable(name, np.asarray(array)) for name, array in arrays.items()})
