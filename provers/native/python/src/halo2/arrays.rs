//! Columns of values that Python lends: numpy arrays of integers, or of field elements.

use circuitize_halo2::convert::{Limbs, scalar};
use halo2_axiom::halo2curves::bn256::Fr;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::buffers::elements;

/// A column of 64-bit integers, or of field elements as four little-endian limbs in normal form.
#[derive(FromPyObject)]
pub enum ColumnArray {
    Small(PyBuffer<i64>),
    Limbs(PyBuffer<u64>),
}

pub fn scalars(limbs: &[u64], name: &str) -> Result<Vec<Fr>, String> {
    if !limbs.len().is_multiple_of(4) {
        return Err(format!("{name}: expected four limbs for each value"));
    }
    limbs
        .par_chunks_exact(4)
        .map(|value| scalar(&Limbs::try_from(value).ok()?))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("{name}: a value is not below r"))
}

fn small(value: i64) -> Fr {
    let magnitude = Fr::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

impl ColumnArray {
    fn values(&self, name: &str) -> PyResult<Vec<Fr>> {
        match self {
            Self::Small(array) => Ok(elements(array, name)?
                .par_iter()
                .map(|&value| small(value))
                .collect()),
            Self::Limbs(array) => scalars(elements(array, name)?, name).map_err(PyValueError::new_err),
        }
    }
}

pub fn columns(arrays: &[ColumnArray], name: &str) -> PyResult<Vec<Vec<Fr>>> {
    arrays.iter().map(|array| array.values(name)).collect()
}
