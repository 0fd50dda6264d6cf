"""The Verilog modules of which shells consist: modules with parameters, each in its own file and linted alone."""
