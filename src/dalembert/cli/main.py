"""The ``dalembert`` command: the commands, and the one place where errors become messages and exit codes.

A command is a function in a module of its own; its name in `COMMANDS` makes it part of the program. It raises what goes wrong
and imports what takes long inside itself.

Exit codes: 0 done; 2 the input is wrong; 3 the solver could not; 130 stopped by the user.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from dalembert.cli.check import check
from dalembert.cli.equilibrium import equilibrium
from dalembert.cli.modes import modes
from dalembert.cli.reactions import reactions
from dalembert.cli.reproduce import reproduce
from dalembert.cli.schema import schema
from dalembert.cli.simulate import simulate
from dalembert.cli.stiffness import stiffness
from dalembert.errors import DalembertError, SolveError

COMMANDS = (check, simulate, equilibrium, modes, stiffness, reactions, reproduce, schema)

INPUT_IS_WRONG, SOLVER_COULD_NOT, STOPPED = 2, 3, 130

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for _command in COMMANDS:
    app.command()(_command)


@app.callback()
def dalembert(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Constrained mechanics: motion, equilibrium, vibration and reactions of bodies tied together by joints."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line if not given.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        return _print_version()
    debug = "--debug" in given
    try:
        return _run([word for word in given if word != "--debug"])
    except (DalembertError, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exc()
        print(f"error: {error}" if str(error) else "stopped", file=sys.stderr)
        return exit_code(error)
    except BrokenPipeError:  # what reads our output, `head` for example, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def exit_code(error: BaseException) -> int:
    """Return the exit code of an error.

    Examples
    --------
    >>> exit_code(SolveError("no")), exit_code(DalembertError("what?"))
    (3, 2)
    """
    if isinstance(error, KeyboardInterrupt):
        return STOPPED
    return SOLVER_COULD_NOT if isinstance(error, SolveError) else INPUT_IS_WRONG


def _run(arguments: list[str]) -> int:
    """Run a command; Typer ends with SystemExit, whatever happened."""
    try:
        app(args=arguments, prog_name="dalembert")
    except SystemExit as end:
        sys.stdout.flush()
        return end.code if isinstance(end.code, int) else 0
    return 0


def _print_version() -> int:
    from dalembert import __version__

    print(f"dalembert {__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
