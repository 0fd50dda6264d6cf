"""The command `circuitize export` writes a program to a file for other tools: an open hypergraph in JSON, or a saved
arrow.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.circuits.encode import digest, program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file
from circuitize.circuits.open_hypergraph import save_open_hypergraph
from circuitize.circuits.program import Program, as_integers
from circuitize.circuits.saved import save

from .loading import load_program, read_program
from .output import print_json, progress, say


def run(options: Namespace) -> int:
    """Write the integer program, or, with --real, the real program from which it is quantized. The ending of the file's
    name decides the form.
    """
    ending = options.output.suffix
    if ending not in (".json", ".arrow"):
        raise CircuitizeError(
            f"{options.output}: expected a file that ends in .json (an open hypergraph) or .arrow (a saved arrow), "
            f"found {ending or 'no ending'!r}; rename it"
        )
    require_file(options.output)
    if not options.real:
        program: Program = load_program(options.program, options=options).integer
    else:
        program = read_program(options.program, options=options)
        if as_integers(program) is not None:
            raise CircuitizeError(f"{options.program}: expected a program of reals, found integers; leave out --real")
    with progress("writing the program"):
        write = save_open_hypergraph if ending == ".json" else save
        write(program, options.output, examples=options.examples)
    language = "real" if options.real else "integer"
    named = digest(program.arrow) if options.real else program_digest(program)
    wires, edges, size = program.arrow.wire_count, program.arrow.edge_count, options.output.stat().st_size
    if options.json:
        print_json({"language": language, "digest": named, "wires": wires, "edges": edges, "bytes": size})
        return 0
    of = " of the arrow" if options.real else ""
    say(f"{options.output}: {edges:,} operations on {wires:,} wires, {language}, {size:,} bytes, digest{of} {named}")
    return 0
