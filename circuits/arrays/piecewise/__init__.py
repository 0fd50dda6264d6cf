"""Operations that choose: comparisons, extrema, clips, rounding to whole numbers."""
