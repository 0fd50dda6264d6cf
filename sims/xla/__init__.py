"""Programs compiled whole by XLA, by way of JAX: one function for a step, or for many, on the CPU and on CUDA alike."""
