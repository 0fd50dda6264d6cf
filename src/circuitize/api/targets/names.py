"""Names that a target's descriptor and its circuits share: names of written files and of sizes."""

CIRCUIT_FILE, WITNESS_FILE, PROGRAM_FILE = "circuit.r1cs", "witness.wtns", "program.arrow"
SYMBOLS_FILE, JSON_FILE = "circuit.sym", "circuit.json"
SYSTEM_FILE, CELLS_FILE = "circuit.plonkish", "witness.cells"
DESIGN_FILE = "design.json"
PLONKISH_SIZES = ("k", "rows", "advice_columns", "fixed_columns", "public", "lookups", "degree")
