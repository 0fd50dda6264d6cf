"""The native provers (Rust); arrays are borrowed, the interpreter's lock is released."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

_Matrix: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]
_System: TypeAlias = tuple[_Matrix, _Matrix, _Matrix, NDArray[np.uint64], int, int, int]
_Bytes: TypeAlias = NDArray[np.uint8]
_Setup: TypeAlias = Literal["development", "ceremony"]
_Prover: TypeAlias = Literal["groth16", "mirage"]

features: list[str]

class Unsatisfied(ValueError): ...

@final
class Groth16VerifyingKey:
    @staticmethod
    def decode(bytes: bytes, prover: _Prover = "groth16") -> Groth16VerifyingKey: ...
    @staticmethod
    def build(setup: _Setup, digest: bytes, points: bytes, committed: int | None = None) -> Groth16VerifyingKey: ...
    def encode(self) -> bytes: ...
    def points(self) -> bytes: ...
    def alpha_beta(self) -> bytes: ...
    @property
    def digest(self) -> bytes: ...
    @property
    def setup(self) -> _Setup: ...
    @property
    def public(self) -> int: ...
    @property
    def committed(self) -> int: ...
    @property
    def prover(self) -> _Prover: ...

@final
class Groth16ProvingKey:
    @staticmethod
    def read(path: str | PathLike[str], prover: _Prover = "groth16") -> Groth16ProvingKey: ...
    def chunks(self) -> Iterator[bytes]: ...
    @property
    def verifying_key(self) -> Groth16VerifyingKey: ...
    @property
    def wires(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def domain(self) -> int: ...

def groth16_setup(
    system: _System,
    digest: bytes,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> Groth16ProvingKey: ...
def groth16_prove(
    key: Groth16ProvingKey,
    system: _System,
    witness: NDArray[np.uint64],
    progress: Callable[[str], object] | None = None,
) -> tuple[bytes, dict[str, float]]: ...
def groth16_verify(key: Groth16VerifyingKey, publics: NDArray[np.uint64], proof: bytes) -> str | None: ...
def groth16_ceremony_refusal(
    key: Groth16ProvingKey,
    system: _System,
    powers: tuple[_Bytes, _Bytes, _Bytes, _Bytes, _Bytes],
) -> str | None: ...
def failing_rows(system: _System, witness: NDArray[np.uint64]) -> list[int]: ...

@final
class Boxes:
    def __new__(
        cls,
        offsets: NDArray[np.int64],
        sources: NDArray[np.int64],
        coefficients: NDArray[np.uint64],
        inputs: int,
    ) -> Boxes: ...
    def trace(self, inputs: NDArray[np.uint64]) -> bytes: ...

@final
class MirageCommitment:
    @property
    def point(self) -> bytes: ...
    @property
    def challenge(self) -> bytes: ...

def mirage_commit(key: Groth16ProvingKey, first: NDArray[np.uint64]) -> MirageCommitment: ...
def mirage_prove(
    key: Groth16ProvingKey,
    system: _System,
    witness: NDArray[np.uint64],
    commitment: MirageCommitment,
    progress: Callable[[str], object] | None = None,
) -> tuple[bytes, dict[str, float]]: ...
def mirage_verify(key: Groth16VerifyingKey, publics: NDArray[np.uint64], proof: bytes) -> str | None: ...
def mirage_challenge(key: Groth16VerifyingKey, publics: NDArray[np.uint64], point: bytes) -> bytes: ...

_View: TypeAlias = tuple[list[int], list[tuple[list[int], tuple[list[int], list[list[int]]] | None]]]
_Form: TypeAlias = tuple[list[int], list[tuple[int, int, list[tuple[int, bool]]]]]

_Geometry: TypeAlias = tuple[int, int, int, int, int, int]

@final
class TensorPlan:
    def __new__(
        cls,
        degree: int,
        ports: list[bytes],
        commitments: list[int],
        bases: list[tuple[object, ...]],
        views: list[_View],
        forms: list[_Form],
        lookups: list[tuple[int, int, int | None]],
        tables: list[tuple[int, NDArray[np.int64], int]],
        zeros: list[int],
        openings: list[int] | None = None,
    ) -> TensorPlan: ...
    def layout(self) -> tuple[list[_Geometry], list[_Geometry], tuple[int, int, int]]: ...

class TensorCommitment:
    @property
    def root(self) -> bytes: ...

def tensor_prove(
    plan: TensorPlan,
    digest: bytes,
    context: bytes,
    values: Iterable[NDArray[np.int64]],
    secrets: list[bytes],
    kept: list[TensorCommitment | None],
    hook: Callable[[str, list[int]], Sequence[int]] | None = None,
    progress: Callable[[str], object] | None = None,
) -> tuple[bytes, list[TensorCommitment], dict[str, float]]: ...
def tensor_verify(
    plan: TensorPlan, digest: bytes, context: bytes, roots: list[bytes], values: list[NDArray[np.int64]], proof: bytes
) -> str | None: ...
def tensor_view(
    plan: TensorPlan,
    values: list[NDArray[np.int64]],
    secrets: list[bytes],
    challenges: bytes,
    demand: tuple[float, int],
    replaced: dict[str, NDArray[np.uint64]],
) -> tuple[list[tuple[str, bytes]], list[tuple[str, bytes]]]: ...
def tensor_commit(
    bits: int,
    tensors: list[tuple[tuple[int, ...], int, NDArray[np.int64]]],
    secret: bytes,
    ports: bytes,
    openings: int | None = None,
) -> TensorCommitment: ...
def tensor_sizes(variables: list[int]) -> tuple[list[_Geometry], list[_Geometry], tuple[int, int, int]]: ...
def tensor_instructions() -> str: ...
def tensor_rates() -> tuple[float, float]: ...

_Column: TypeAlias = NDArray[np.int64] | NDArray[np.uint64]

class Halo2Unsatisfied(ValueError): ...

@final
class Halo2System:
    def __init__(
        self,
        rows: int,
        phases: Sequence[int],
        fixed: Sequence[_Column],
        instances: Sequence[int],
        challenges: int,
        nodes: NDArray[np.int32],
        constants: NDArray[np.uint64],
        gates: Sequence[int],
        lookups: Sequence[tuple[Sequence[int], Sequence[int]]],
        copies: NDArray[np.int32],
    ) -> None: ...
    @property
    def k(self) -> int: ...
    @property
    def degree(self) -> int: ...

@final
class Halo2VerifyingKey:
    @staticmethod
    def decode(bytes: bytes) -> Halo2VerifyingKey: ...
    def encode(self) -> bytes: ...
    def commitments(self) -> bytes: ...
    @property
    def digest(self) -> bytes: ...
    @property
    def setup(self) -> _Setup: ...
    @property
    def instances(self) -> list[int]: ...
    @property
    def k(self) -> int: ...
    @property
    def degree(self) -> int: ...
    @property
    def representative(self) -> bytes: ...

@final
class Halo2ProvingKey:
    @staticmethod
    def read(path: str | PathLike[str]) -> Halo2ProvingKey: ...
    def encode(self) -> list[bytes]: ...
    @property
    def verifying_key(self) -> Halo2VerifyingKey: ...

def halo2_setup(
    system: Halo2System,
    digest: bytes,
    seed: bytes | None = None,
    powers: tuple[_Bytes, _Bytes, _Bytes] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Halo2ProvingKey: ...
def halo2_prove(
    key: Halo2ProvingKey,
    system: Halo2System,
    instances: Sequence[_Column],
    first: Sequence[_Column],
    second: Callable[[list[list[int]]], Sequence[_Column]],
    progress: Callable[[str], object] | None = None,
) -> tuple[bytes, dict[str, float]]: ...
def halo2_verify(key: Halo2VerifyingKey, instances: Sequence[NDArray[np.uint64]], proof: bytes) -> str | None: ...
