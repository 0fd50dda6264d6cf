"""Runs one command and turns whatever goes wrong into one line and an exit status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from circuitize.circuits.errors import CircuitizeError

from .arguments import parser

ANSWER_IS_NO = 1
BAD_INPUT = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: this process's) and return its exit status.

    0: done. 1: the answer is no (a proof does not verify, targets disagree). 2: bad use or bad input, said in one line
    on standard error. 130 and 141: interrupted, or nobody reads the output any more. Only --help and --version raise
    SystemExit, as argparse does.
    """
    try:
        options = parser().parse_args(arguments)
        status: int = import_module(f".{options.command}", __package__).run(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _failed("interrupted; nothing half-written is left", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except CircuitizeError as error:
        return _failed(str(error))
    except MemoryError:
        return _failed(
            "expected enough memory for this program, found none left; use a smaller batch, or a larger machine"
        )
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _failed(f"{where}{error.strerror or error}; check the path, its permissions and the space on the disk")
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return _failed(
            f"internal error: {type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno}); "
            "this is a bug in circuitize: please report this line with the command"
        )


def _failed(message: str, status: int = BAD_INPUT) -> int:
    print("circuitize:", " ".join(message.split()), file=sys.stderr)
    return status
