"""The command `circuitize certify` proves that a parallel design computes its program for all inputs, and writes a
certificate.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.certify import certify

from .output import print_json, print_table, say, show


def run(options: Namespace) -> int:
    """Return exit status 0 if the proof succeeds for every module and the certificate is written, and 1 if it fails for
    some module.
    """
    found = certify(options.design, options.output, progress=show)
    made = found.certificate
    if options.json:
        told = {"certificate": str(options.output) if made else None, "refusal": found.refusal or None}
        shown = {name: made[name] for name in ("program", "stages", "tabulated", "modules")} if made else {}
        print_json({"certified": bool(found), **told, "statement": found.statement or None, **shown})
    elif made is None:
        say(f"{options.design}: NOT certified: {found.refusal}")
    else:
        say(f"{options.design}: {len(made['modules'])} modules shown for all inputs; wrote {options.output}")
        print_table([("program", made["program"]), ("statement", found.statement), ("stages", made["stages"])])
        for entry in made["modules"]:
            say("; ".join([f"  {entry['module']}: {entry['method']}", *entry["operations"]]))
    return 0 if found else 1
