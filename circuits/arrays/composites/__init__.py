"""Operations that are arrows of simpler ones: softmax, losses, normalisations, attention."""
