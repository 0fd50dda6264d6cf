"""Programs compiled as a whole by XLA, through JAX: one function for a step or for many steps, for the CPU and for CUDA
alike.
"""
