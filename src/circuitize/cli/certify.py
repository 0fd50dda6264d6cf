"""The command `circuitize certify`: it proves that a design computes its program for all inputs."""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.certify import certify

from .output import print_json, print_table, say, show


def run(options: Namespace) -> int:
    """Return exit status 0 if the proof succeeds for the whole design and the certificate is written, or 1."""
    found = certify(options.design, options.output, progress=show)
    made = found.certificate
    if options.json:
        told = {"certificate": str(options.output) if made else None, "refusal": found.refusal or None}
        names = ("program", "stages", "tabulated", "clocks", "modules")
        shown = {name: made[name] for name in names if name in made} if made else {}
        print_json({"certified": bool(found), **told, "statement": found.statement or None, **shown})
    elif made is None:
        say(f"{options.design}: NOT certified: {found.refusal}")
    elif "clocks" in made:
        say(f"{options.design}: every frame shown for all inputs and states; wrote {options.output}")
        print_table([("program", made["program"]), ("statement", found.statement), ("clocks a frame", made["clocks"])])
        say("  claimed for frames that begin in an idle design, a beat a clock on each stream, outputs taken at once")
    else:
        say(f"{options.design}: {len(made['modules'])} modules shown for all inputs; wrote {options.output}")
        print_table([("program", made["program"]), ("statement", found.statement), ("stages", made["stages"])])
        for entry in made["modules"]:
            say("; ".join([f"  {entry['module']}: {entry['method']}", *entry["operations"]]))
    return 0 if found else 1
