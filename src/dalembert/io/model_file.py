"""Model files: YAML to `Model` and back.

Reading takes three steps: the text must be YAML (yaml_text.py), its values must fit the schema (schema.py, validation.py), and
the elements must make sense (their own dataclasses, reader.py). All mistakes of the last two are listed; what depends on an
element with a mistake is left out, so that one mistake is told once.

A model that is written and read again is the same, bit by bit: its numbers, its orientations, its axes.
"""

from __future__ import annotations

import os
import stat
import tempfile
import textwrap
from pathlib import Path

from dalembert.errors import Mistake, ModelError, ModelFileError, nearest
from dalembert.io.reader import ModelSource, read_source
from dalembert.io.writer import text_of
from dalembert.io.yaml_text import LARGEST_FILE
from dalembert.system.model import Model


def load_model(path: str | os.PathLike[str]) -> Model:
    """Return the model of a file.

    Parameters
    ----------
    path : path
        A YAML file; `docs/model_file.md` says what it may contain.

    Raises
    ------
    ModelFileError
        With file, line and element of every mistake that was found.
    """
    return read_model_file(path).model


def save_model(model: Model, path: str | os.PathLike[str], *, remark: str = "") -> None:
    """Write a model to a file, which is replaced at once or, if something fails, left as it was.

    Parameters
    ----------
    model : Model
    path : path
    remark : str
        Comment at the head of the file.

    Raises
    ------
    ModelError
        If the model holds a Python function, which no file can hold.
    """
    comment = "".join(f"# {line}\n" for line in textwrap.wrap(remark, 118))
    _replace(Path(path), comment + model_to_text(model))


def model_from_text(text: str, *, file: str = "<text>") -> Model:
    """Return the model that a YAML text describes; `file` is how errors call it.

    Examples
    --------
    >>> model = model_from_text("{dalembert: 1, bodies: {bob: {mass: 2}}}")
    >>> model.bodies["bob"].mass
    2.0
    """
    return read_source(text, file).model


def model_to_text(model: Model) -> str:
    """Return the YAML text of a model.

    Examples
    --------
    >>> model = Model("drop", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=2)
    >>> print(model_to_text(model), end="")
    dalembert: 1
    name: drop
    gravity: [0.0, 0.0, -9.81]
    bodies:
      bob: {mass: 2.0}
    """
    return text_of(model)


def read_model_file(path: str | os.PathLike[str]) -> ModelSource:
    """Return the model of a file with its text, so that later errors can name lines too."""
    return read_source(_text(Path(path)), str(path))


def _text(path: Path) -> str:
    """Return the text of a file, or say why it is none."""
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        remedy = ""
        if isinstance(error, FileNotFoundError) and path.parent.is_dir():
            remedy = nearest(path.name, [other.name for other in path.parent.iterdir() if other.suffix in (".yaml", ".yml")])
        raise _unreadable(path, (error.strerror or str(error)).lower(), remedy) from error
    if len(content) > LARGEST_FILE:
        raise _unreadable(path, f"it has more than {LARGEST_FILE // 1_000_000} MB", "build such a model in Python")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _unreadable(path, f"byte 0x{content[error.start]:02x} is not UTF-8 text", "give a YAML file", line) from error


def _unreadable(path: Path, problem: str, remedy: str, line: int = 1) -> ModelFileError:
    return ModelFileError([Mistake(str(path), line, "the file", problem, remedy)])


def _replace(path: Path, text: str) -> None:
    """Write a file under another name beside it, then rename it: no reader ever sees half a file."""
    target = path.resolve()  # a link stays a link
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelError("model", "its name or a formula is not Unicode text", "choose other characters") from error
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: Path) -> int:
    """Return the permissions of a file, or those of a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
