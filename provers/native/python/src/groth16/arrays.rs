//! A constraint system as Python hands it over: a tuple of borrowed numpy arrays.

use circuitize_groth16::system::{Matrix, System};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::buffers::elements;

type MatrixArrays = (PyBuffer<i64>, PyBuffer<u32>, PyBuffer<i64>);

/// A, B, C, the large coefficients; how many wires there are, publics among them, and committed ones (0 without a challenge).
#[derive(FromPyObject)]
pub struct SystemArrays(
    MatrixArrays,
    MatrixArrays,
    MatrixArrays,
    PyBuffer<u64>,
    usize,
    usize,
    usize,
);

/// The same arrays, borrowed, for code that runs without the interpreter's lock.
#[derive(Clone, Copy)]
pub struct Borrowed<'a> {
    matrices: [Matrix<'a>; 3],
    large: &'a [u64],
    pub wires: usize,
    public: usize,
    committed: usize,
}

impl SystemArrays {
    pub fn borrow(&self) -> PyResult<Borrowed<'_>> {
        let Self(a, b, c, large, wires, public, committed) = self;
        Ok(Borrowed {
            matrices: [matrix(a, "A")?, matrix(b, "B")?, matrix(c, "C")?],
            large: elements(large, "large")?,
            wires: *wires,
            public: *public,
            committed: *committed,
        })
    }
}

impl<'a> Borrowed<'a> {
    /// The system, checked; one of two phases where wires are committed.
    pub fn system(self) -> Result<System<'a>, String> {
        let system = System::new(self.matrices, self.large, self.wires, self.public)?;
        match self.committed {
            0 => Ok(system),
            committed => system.committing(committed),
        }
    }
}

fn matrix<'a>(arrays: &'a MatrixArrays, name: &str) -> PyResult<Matrix<'a>> {
    Ok(Matrix {
        offsets: elements(&arrays.0, &format!("offsets of {name}"))?,
        wires: elements(&arrays.1, &format!("wires of {name}"))?,
        coefficients: elements(&arrays.2, &format!("coefficients of {name}"))?,
    })
}
