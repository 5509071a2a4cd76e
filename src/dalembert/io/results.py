"""Runs in files: NetCDF, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from dalembert.errors import DalembertError

if TYPE_CHECKING:
    import xarray as xr


class ResultFileError(DalembertError):
    """A run cannot be written or read."""


def save_run(run: xr.Dataset, path: str | Path, *, model_text: str = "") -> Path:
    """Write a run to a NetCDF file; an older file at the path stays until the new one is complete.

    Parameters
    ----------
    run : xarray.Dataset
        From `simulate`.
    path : path
        Usually ends with ``.nc``.
    model_text : str
        The model file that made it, kept in the attribute ``model``.
    """
    target = Path(path)
    run = run.assign_attrs(model=model_text) if model_text else run
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        os.close(handle)
    except OSError as error:
        raise ResultFileError(f"{target}: cannot be written ({error.strerror}); is there such a folder?") from error
    try:
        run.to_netcdf(name, engine="h5netcdf")
        os.replace(name, target)
    except OSError as error:
        raise ResultFileError(f"{target}: cannot be written ({error}); is the disk full?") from error
    finally:
        Path(name).unlink(missing_ok=True)
    return target


def load_run(path: str | Path) -> xr.Dataset:
    """Read a run from a NetCDF file."""
    import xarray as xr

    try:
        with xr.open_dataset(path, engine="h5netcdf") as run:
            return run.load()
    except (OSError, ValueError) as error:
        raise ResultFileError(f"{path}: is not a run ({error})") from error
