"""Thirteen estimators of scikit-learn, fitted on its own data, and their ONNX files as skl2onnx exports them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skl2onnx import to_onnx
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier

ESTIMATORS: dict[str, Any] = {
    "LinearRegression": LinearRegression(),
    "LogisticRegression": LogisticRegression(max_iter=500),
    "LinearSVC": LinearSVC(random_state=0),
    "SVC": SVC(),
    "SVR": SVR(),
    "DecisionTreeClassifier": DecisionTreeClassifier(random_state=0),
    "RandomForestClassifier": RandomForestClassifier(n_estimators=10, random_state=0),
    "GradientBoostingRegressor": GradientBoostingRegressor(n_estimators=20, random_state=0),
    "KNeighborsClassifier": KNeighborsClassifier(),
    "GaussianNB": GaussianNB(),
    "MLPClassifier": MLPClassifier((8,), solver="lbfgs", max_iter=500, random_state=0),
    "KMeans": KMeans(3, n_init=1, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), Normalizer(), PCA(3), LogisticRegression()),
}
"""Chosen before the work."""


def fitted(name: str, classes: Any = (0, 1, 2)) -> tuple[Any, NDArray[np.float32]]:
    """The ONNX file of an estimator that was fitted to irises, of classes called so, as exported, and the irises."""
    inputs, labels = load_iris(return_X_y=True)
    labels = np.array(classes)[labels]
    data = inputs.astype(np.float32)
    estimator = ESTIMATORS[name].fit(data, labels)
    return to_onnx(estimator, data[:1]), data
