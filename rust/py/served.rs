//! Serving: calls in, answers out.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::accept::Text;
use crate::mcp::served::{self, Facts};

/// A `tools/call` that is certain to end the same on either lane.
#[pyclass(frozen, module = "toolwire._core")]
pub struct ServedCall {
    /// The request's id as it was written.
    #[pyo3(get)]
    pub id_json: Py<PyBytes>,
    #[pyo3(get)]
    pub name: String,
    /// The arguments' object; `None` where they are absent or null.
    #[pyo3(get)]
    pub arguments: Option<Py<PyBytes>>,
    /// The `_meta` object.
    #[pyo3(get)]
    pub meta: Option<Py<PyBytes>>,
    /// The reserved members of `_meta`, in their order, as one text.
    #[pyo3(get)]
    pub envelope: Py<PyBytes>,
    /// The progress token's JSON.
    #[pyo3(get)]
    pub token: Option<Py<PyBytes>>,
}

impl ServedCall {
    pub fn read(py: Python<'_>, id: &[u8], params: &[u8]) -> Option<Self> {
        let call = served::call(params)?;
        let bytes = |value: &[u8]| PyBytes::new(py, value).unbind();
        Some(Self {
            id_json: bytes(id),
            name: call.name,
            arguments: call.arguments.map(bytes),
            meta: call.meta.map(bytes),
            envelope: bytes(&call.envelope),
            token: call.token.map(bytes),
        })
    }
}

/// A result with one text block. `stamp` is the server's, on a session of 2026-07-28.
#[pyfunction]
#[pyo3(signature = (text, structured, is_error, stamp))]
pub fn text_result<'py>(
    py: Python<'py>,
    text: &str,
    structured: Option<&[u8]>,
    is_error: bool,
    stamp: Option<&[u8]>,
) -> Bound<'py, PyBytes> {
    PyBytes::new(
        py,
        &served::text_result(
            text,
            Facts {
                structured,
                is_error,
                meta: None,
                stamp,
            },
        ),
    )
}

/// A result with the blocks of `content`; `meta` is the result's own `_meta` object.
#[pyfunction]
#[pyo3(signature = (content, structured, is_error, meta, stamp))]
pub fn content_result<'py>(
    py: Python<'py>,
    content: &[u8],
    structured: Option<&[u8]>,
    is_error: bool,
    meta: Option<&[u8]>,
    stamp: Option<&[u8]>,
) -> Bound<'py, PyBytes> {
    let members = meta.map(served::meta_members);
    let facts = Facts {
        structured,
        is_error,
        meta: members.as_deref(),
        stamp,
    };
    PyBytes::new(py, &served::content_result(content, facts))
}

/// The line that answers the request `id_json` with a result.
#[pyfunction]
pub fn answer<'py>(py: Python<'py>, id_json: &[u8], result: Text) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &served::answer(id_json, "result", result.as_ref()))
}

/// The line that answers the request `id_json` with an error object.
#[pyfunction]
pub fn answer_error<'py>(py: Python<'py>, id_json: &[u8], error: Text) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &served::answer(id_json, "error", error.as_ref()))
}
