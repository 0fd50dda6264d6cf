"""The Verilog that shells are made of: modules with parameters, each in a file of its own, linted by themselves."""
