"""Programs compiled whole by XLA, by way of JAX: one function for a step, or for many, for the CPU and for CUDA
alike.
"""
