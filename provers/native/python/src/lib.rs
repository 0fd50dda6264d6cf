//! The native provers of circuitize, one cargo feature each, as the Python module `circuitize._native`.

#[cfg(any(feature = "groth16", feature = "tensor"))]
mod buffers;
#[cfg(feature = "groth16")]
mod groth16;
#[cfg(feature = "halo2")]
mod halo2;
#[cfg(any(feature = "groth16", feature = "tensor"))]
mod progress;
#[cfg(feature = "tensor")]
mod tensor;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("features", FEATURES.to_vec())?;
    #[cfg(feature = "groth16")]
    groth16::register(module)?;
    #[cfg(feature = "halo2")]
    halo2::register(module)?;
    #[cfg(feature = "tensor")]
    tensor::register(module)?;
    Ok(())
}

const FEATURES: &[&str] = &[
    #[cfg(feature = "groth16")]
    "groth16",
    #[cfg(feature = "halo2")]
    "halo2",
    #[cfg(feature = "stock")]
    "stock",
    #[cfg(feature = "tensor")]
    "tensor",
];
