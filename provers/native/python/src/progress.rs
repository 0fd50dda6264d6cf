//! How Python follows a long computation: a callback for each phase, which may interrupt it.

use std::sync::Mutex;

#[cfg(feature = "groth16")]
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Tells Python of each phase, and lets it interrupt between phases.
pub struct Progress {
    callback: Option<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Progress {
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            callback,
            raised: Mutex::new(None),
        }
    }

    pub fn report(&self, phase: &'static str) -> Result<(), String> {
        Python::attach(|py| {
            py.check_signals()?;
            self.callback
                .as_ref()
                .map_or(Ok(()), |callback| callback.call1(py, (phase,)).map(drop))
        })
        .map_err(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                *raised = Some(error);
            }
            "interrupted".to_string()
        })
    }

    /// The exception that interrupted: a callback's, or a signal's.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().ok().and_then(|mut raised| raised.take())
    }

    /// The exception that a callback raised, else the failure itself.
    #[cfg(feature = "groth16")]
    pub fn error(&self, message: String) -> PyErr {
        self.raised().unwrap_or_else(|| PyValueError::new_err(message))
    }
}
