//! Bytes to base64, for content on its way out.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::limits::DETACH;
use crate::mcp::base64::{encode_into, encoded_size};

/// The digits of `data`, with padding, written where they stay.
#[pyfunction]
pub fn base64(py: Python<'_>, data: PyBackedBytes) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, encoded_size(data.len()), |room| {
        if data.len() >= DETACH {
            py.detach(|| encode_into(&data, room));
        } else {
            encode_into(&data, room);
        }
        Ok(())
    })
}
