//! A constraint system as Python hands it over: a tuple of borrowed numpy arrays.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::system::{Matrix, System};

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

/// The elements of a contiguous array, without a copy.
pub fn elements<'a, T: Element>(array: &'a PyBuffer<T>, name: &str) -> PyResult<&'a [T]> {
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err(format!(
            "{name}: expected a contiguous array"
        )));
    }
    if array.item_count() == 0 {
        return Ok(&[]);
    }
    // Safety: the buffer is exported for as long as `array` lives, contiguous, aligned and of this element type, as
    // PyBuffer checked. Python code that writes to it meanwhile breaks the contract of these functions.
    Ok(unsafe { std::slice::from_raw_parts(array.buf_ptr().cast::<T>(), array.item_count()) })
}

fn matrix<'a>(arrays: &'a MatrixArrays, name: &str) -> PyResult<Matrix<'a>> {
    Ok(Matrix {
        offsets: elements(&arrays.0, &format!("offsets of {name}"))?,
        wires: elements(&arrays.1, &format!("wires of {name}"))?,
        coefficients: elements(&arrays.2, &format!("coefficients of {name}"))?,
    })
}
