//! Serving: calls in, answers out. A call is read once; its answer is written in one crossing.

use bytes::Bytes;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::accept::Text;
use super::frame::Frame;
use super::json::checked;
use crate::json::scan::whitespace;
use crate::limits::DETACH;
use crate::mcp::served::{self, Call, Facts};
use crate::wire::envelope::{self, Id, Kind};
use crate::wire::inbound;

/// A `tools/call` that is certain to end the same on either lane.
#[pyclass(frozen, module = "toolwire._core")]
pub struct ServedCall {
    frame: inbound::Frame,
    call: Call,
}

impl ServedCall {
    /// What `frame` calls; `None` for anything that is not certain.
    pub fn of(frame: &inbound::Frame) -> Option<Call> {
        let (envelope, text) = (&frame.envelope, &frame.text[..]);
        let certain = envelope.kind == Kind::Request && envelope.plain && !envelope.lone_surrogate;
        let (method, id) = (envelope.method.clone()?, envelope.id_span.clone()?);
        if !certain || &text[method] != b"\"tools/call\"" || !plain_id(&text[id]) {
            return None;
        }
        served::call(text, envelope.params.as_ref()?.start)
    }

    pub const fn new(frame: inbound::Frame, call: Call) -> Self {
        Self { frame, call }
    }

    fn id(&self) -> &[u8] {
        &self.frame.text[self.frame.envelope.id_span.clone().unwrap_or_default()]
    }

    fn part<'py>(&self, py: Python<'py>, span: Option<&std::ops::Range<usize>>) -> Option<Bound<'py, PyBytes>> {
        span.map(|span| PyBytes::new(py, &self.frame.text[span.clone()]))
    }
}

/// A string, or digits with at most a sign: every JSON-RPC library reads the same id.
fn plain_id(id: &[u8]) -> bool {
    let digits = id.strip_prefix(b"-").unwrap_or(id);
    id[0] == b'"' || (digits.iter().all(u8::is_ascii_digit) && digits.len() <= 18)
}

#[pymethods]
impl ServedCall {
    /// The id as requests are told apart by: `Frame.id`.
    #[getter]
    fn key(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.frame.envelope.id {
            Id::Integer(id) => id.into_py_any(py),
            Id::Text(id) => id.into_py_any(py),
            Id::Absent | Id::Null | Id::Odd => Ok(py.None()),
        }
    }

    /// The id as it was written.
    #[getter]
    fn id_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.id())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.call.name
    }

    /// The arguments' object; `None` where they are absent or null.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.call.arguments.as_ref())
    }

    /// The `_meta` object.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.call.meta.as_ref())
    }

    /// The reserved members of `_meta`, in their order, as one text.
    #[getter]
    fn envelope<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.call.envelope)
    }

    /// The progress token's JSON.
    #[getter]
    fn token<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.call.token.as_ref())
    }

    /// Bytes of the whole message.
    #[getter]
    fn size(&self) -> usize {
        self.frame.text.len()
    }

    /// The message, for the lane that takes everything.
    fn frame(&self) -> Frame {
        Frame(self.frame.clone())
    }

    /// `check_arguments` of the arguments. Raises `JsonError` with the model's text.
    fn checked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let arguments = self
            .call
            .arguments
            .clone()
            .map_or(&b""[..], |span| &self.frame.text[span]);
        Ok(PyBytes::new(py, &checked(py, arguments)?))
    }

    /// The line that answers this call with one text block. `stamp` is the server's, on a session of 2026-07-28.
    #[pyo3(signature = (text, structured, is_error, stamp))]
    fn text_answer<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        structured: Option<&[u8]>,
        is_error: bool,
        stamp: Option<&[u8]>,
    ) -> Bound<'py, PyBytes> {
        let facts = Facts {
            structured,
            is_error,
            meta: None,
            stamp,
        };
        let line = served::answer(self.id(), "result", |out| served::text_result(text, facts, out));
        PyBytes::new(py, &line)
    }

    /// The line that answers this call with the blocks of `content`; `meta` is the result's own `_meta` object.
    #[pyo3(signature = (content, structured, is_error, meta, stamp))]
    fn content_answer<'py>(
        &self,
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
        let line = served::answer(self.id(), "result", |out| served::content_result(content, facts, out));
        PyBytes::new(py, &line)
    }

    /// The line that answers this call with an error object.
    fn error_answer<'py>(&self, py: Python<'py>, error: Text) -> Bound<'py, PyBytes> {
        answer_error(py, self.id(), error)
    }
}

/// The call that a whole text is, as one that is posted; `None` for anything that is not certain.
#[pyfunction]
pub fn served_call(py: Python<'_>, text: PyBackedBytes) -> Option<ServedCall> {
    if text.len() >= DETACH {
        py.detach(|| alone(&text))
    } else {
        alone(&text)
    }
}

fn alone(text: &[u8]) -> Option<ServedCall> {
    std::str::from_utf8(text).ok()?;
    let start = whitespace(text, 0);
    let (envelope, end) = envelope::read(text, start).ok()?;
    if whitespace(text, end) < text.len() {
        return None;
    }
    let text = Bytes::copy_from_slice(&text[start..end]);
    let frame = inbound::Frame { text, envelope };
    let call = ServedCall::of(&frame)?;
    Some(ServedCall::new(frame, call))
}

/// A result with one text block.
#[pyfunction]
#[pyo3(signature = (text, structured, is_error, stamp))]
pub fn text_result<'py>(
    py: Python<'py>,
    text: &str,
    structured: Option<&[u8]>,
    is_error: bool,
    stamp: Option<&[u8]>,
) -> Bound<'py, PyBytes> {
    let facts = Facts {
        structured,
        is_error,
        meta: None,
        stamp,
    };
    let mut result = Vec::new();
    served::text_result(text, facts, &mut result);
    PyBytes::new(py, &result)
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
    let mut result = Vec::new();
    served::content_result(content, facts, &mut result);
    PyBytes::new(py, &result)
}

/// The line that answers the request `id_json` with a result.
#[pyfunction]
pub fn answer<'py>(py: Python<'py>, id_json: &[u8], result: Text) -> Bound<'py, PyBytes> {
    line(py, id_json, "result", result)
}

/// The line that answers the request `id_json` with an error object.
#[pyfunction]
pub fn answer_error<'py>(py: Python<'py>, id_json: &[u8], error: Text) -> Bound<'py, PyBytes> {
    line(py, id_json, "error", error)
}

fn line<'py>(py: Python<'py>, id: &[u8], member: &str, value: Text) -> Bound<'py, PyBytes> {
    let line = served::answer(id, member, |out| crate::json::write::paste(value.as_ref(), out));
    PyBytes::new(py, &line)
}
