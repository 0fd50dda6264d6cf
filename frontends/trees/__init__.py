"""Ensembles of decision trees of scikit-learn as integer programs."""
