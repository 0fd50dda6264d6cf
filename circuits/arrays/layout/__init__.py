"""Operations that move elements and compute nothing: reshape, slice, gather, windows."""
