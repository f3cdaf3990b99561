//! What Python may hand in as text, and how a refusal goes back.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

pyo3::create_exception!(
    toolwire,
    JsonError,
    PyValueError,
    "A text that is not the JSON that was asked for. `args` is `(prose, kind, offset)`: the offset in bytes, -1 where none applies."
);

/// A text from Python: `bytes` and `str` as they lie in memory, anything else with a buffer as a copy.
pub enum Text {
    Bytes(PyBackedBytes),
    Str(PyBackedStr),
    Copied(Vec<u8>),
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Str(text) => text.as_bytes(),
            Self::Copied(bytes) => bytes,
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        // `PyBackedBytes` would take a bytearray too, by copying; it has to come after the exact types.
        if let Ok(bytes) = object.cast::<pyo3::types::PyBytes>() {
            return Ok(Self::Bytes(bytes.to_owned().into()));
        }
        if let Ok(text) = object.cast::<pyo3::types::PyString>() {
            return text
                .to_owned()
                .try_into()
                .map(Self::Str)
                .map_err(|_| refused("half of a surrogate pair in the text", "lone_surrogate", -1));
        }
        match PyBuffer::<u8>::get(&object.to_owned()) {
            Ok(buffer) => Ok(Self::Copied(buffer.to_vec(object.py())?)),
            Err(_) => Err(PyTypeError::new_err(format!(
                "expected bytes or str, got {}",
                object.get_type().name()?
            ))),
        }
    }
}

/// The one way in which a fault of a text reaches Python.
pub fn refused(prose: impl Into<String>, kind: &'static str, offset: i64) -> PyErr {
    JsonError::new_err((prose.into(), kind, offset))
}

/// A JSON error with its place.
pub fn json_error(error: crate::error::Error) -> PyErr {
    refused(
        error.to_string(),
        error.kind.word(),
        i64::try_from(error.offset).unwrap_or(-1),
    )
}
