//! Arrays that Python lends, and what it is told of others.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[cfg(feature = "groth16")]
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

/// The exception for what is handed in from outside.
pub fn refused(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
