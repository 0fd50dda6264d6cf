"""The entry point of the command line: it runs one command, and turns every error into one line and an exit status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from circuitize.circuits.errors import CircuitizeError

from .arguments import COMMANDS, parser
from .output import remark
from .screen import screens

BAD_INPUT = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: this process's) and return its exit status.

    Exit status 0 means done, 1 a negative answer (a proof does not verify, targets disagree), and 2 wrong use or bad
    input, with one line on standard error; 130 means an interruption, and 141 an output that nobody reads any more.
    Only --help and --version raise SystemExit, as argparse does for these options.
    """
    try:
        words = sys.argv[1:] if arguments is None else arguments
        command = next((word for word in words if not word.startswith("-")), "")
        options = parser(command, alone=command in COMMANDS and words[0] == command).parse_args(words)
        with screens():
            status: int = import_module(f".{options.command.replace('-', '_')}", __package__).run(options)
            sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        # Where it came in the midst of source that was compiled on the spot, as every dataclass has some, Python would
        # end by the signal, whatever the status. Source that runs to its end makes it forget that.
        exec("pass")
        return _failed("interrupted; no file is half-written", INTERRUPTED)
    except BrokenPipeError:
        _discard_output()
        return PIPE_CLOSED
    except CircuitizeError as error:
        return _failed(str(error))
    except MemoryError:
        return _failed("expected more memory than this machine has left for this program; use a smaller batch")
    except OSError as error:
        _discard_output()
        where = f"{error.filename}: " if error.filename else ""
        return _failed(f"{where}{error.strerror or error}; check the path, its permissions and the space on the disk")
    except Exception as error:
        if isinstance(error, ImportError) and error.name == "circuitize._native":
            return _failed(
                "expected the native prover, found none for this Python; install a wheel, or in a checkout: make build "
                "(circuitize doctor tells what is here)"
            )
        place = traceback.extract_tb(error.__traceback__)[-1]
        return _failed(
            f"internal error: {type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno}); "
            "this is a bug in circuitize: please report this line with the command"
        )


def _failed(message: str, status: int = BAD_INPUT) -> int:
    remark(message)
    return status


def _discard_output() -> None:
    """Discard buffered standard output that could not be written, so that the interpreter does not try to write it
    again when it ends.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
