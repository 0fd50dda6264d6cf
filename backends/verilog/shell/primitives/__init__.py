"""The Verilog modules of which shells consist: modules with parameters, each of which has its own file and is linted by
itself.
"""
