"""Combinational logic of quantized networks, as da4ml and alkaid save it: instructions that compute one number each."""
