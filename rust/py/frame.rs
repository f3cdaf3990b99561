//! Frames.

use bytes::Bytes;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::accept::json_error;
use super::listing::Page;
use super::result::CallResult;
use crate::json::scan::{Nothing, checked, document, whitespace};
use crate::json::walk::Members;
use crate::limits::DETACH;
use crate::mcp::{listing, meta, result, served};
use crate::wire::envelope::{self, Id, Kind};
use crate::wire::inbound;
use crate::wire::mend::mended;

/// One message: its kind, its id, its parts as bytes.
#[pyclass(frozen, module = "toolwire._core")]
pub struct Frame(pub inbound::Frame);

impl Frame {
    fn part<'py>(&self, py: Python<'py>, span: Option<&std::ops::Range<usize>>) -> Option<Bound<'py, PyBytes>> {
        span.map(|span| PyBytes::new(py, &self.0.text[span.clone()]))
    }
}

#[pymethods]
impl Frame {
    /// The integer id of the request that this answers, whole or broken; -1 for everything else.
    #[getter]
    fn answers(&self) -> i64 {
        match (&self.0.envelope.kind, &self.0.envelope.id) {
            (Kind::Result | Kind::Error | Kind::Broken(_), Id::Integer(id)) => *id,
            _ => -1,
        }
    }

    /// `request`, `notification`, `result`, `error`, `broken` or `broken_request`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.envelope.kind {
            Kind::Request => "request",
            Kind::Notification => "notification",
            Kind::Result => "result",
            Kind::Error => "error",
            Kind::BrokenRequest(_) => "broken_request",
            Kind::Broken(_) | Kind::Noise => "broken",
        }
    }

    /// An integer, a string, or `None` where it is null, absent or neither.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.0.envelope.id {
            Id::Integer(id) => id.into_py_any(py),
            Id::Text(id) => id.into_py_any(py),
            Id::Absent | Id::Null | Id::Odd => Ok(py.None()),
        }
    }

    /// Why a broken message is none.
    #[getter]
    fn fault(&self) -> Option<String> {
        match &self.0.envelope.kind {
            Kind::Broken(fault) | Kind::BrokenRequest(fault) => Some(fault.prose()),
            _ => None,
        }
    }

    #[getter]
    fn method(&self) -> Option<String> {
        listing::string(self.0.envelope.method.as_ref().map(|span| &self.0.text[span.clone()]))
    }

    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.text)
    }

    /// Bytes of `text`.
    #[getter]
    fn size(&self) -> usize {
        self.0.text.len()
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.envelope.params.as_ref())
    }

    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.envelope.result.as_ref())
    }

    /// Code, message, and the data's bytes.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> Option<(i64, String, Option<Bound<'py, PyBytes>>)> {
        let span = self.0.envelope.error.clone()?;
        let text = &self.0.text[..];
        let code = envelope::error_code(text, span.start)?;
        let (mut message, mut data) = (String::new(), None);
        let mut members = Members::new(text, span.start);
        while let Some((name, start)) = members.next() {
            let value = &text[start..members.extent().end];
            match name {
                b"message" => message = listing::string(Some(value)).unwrap_or_default(),
                b"data" => data = Some(PyBytes::new(py, value)),
                _ => {}
            }
        }
        Some((code, message, data))
    }

    /// The token of a progress notification when it is an integer, -1 otherwise; then progress, total, message.
    fn progress(&self) -> (i64, f64, Option<f64>, Option<String>) {
        let text = &self.0.text[..];
        let (mut token, mut progress, mut total, mut message) = (-1, 0.0, None, None);
        let start = self.0.envelope.params.as_ref().map_or(text.len(), |span| span.start);
        let mut members = Members::new(text, start);
        while let Some((name, start)) = members.next() {
            let value = &text[start..members.extent().end];
            let number = || {
                std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse::<f64>().ok())
            };
            match name {
                b"progressToken" => {
                    if let Id::Integer(number) = envelope::id(value) {
                        token = number;
                    }
                }
                b"progress" => progress = number().unwrap_or_default(),
                b"total" => total = number(),
                b"message" => message = listing::string(Some(value)),
                _ => {}
            }
        }
        (token, progress, total, message)
    }

    /// The envelope members of this request's `_meta`, as bytes to paste; `None` on a session without one.
    fn learned(&self) -> Option<Vec<u8>> {
        let span = self.0.envelope.params.clone()?;
        meta::envelope(&self.0.text[span])
    }

    /// The text for a stricter parser.
    fn mended<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &mended(&self.0))
    }

    /// The id as it was written.
    #[getter]
    fn id_json<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.envelope.id_span.as_ref())
    }

    /// The reserved members of this request's `_meta`, as one text to compare; `None` where they can't be told for certain.
    fn reserved(&self) -> Option<Vec<u8>> {
        self.0
            .envelope
            .params
            .clone()
            .map_or_else(|| Some(Vec::new()), |span| served::reserved(&self.0.text, span.start))
    }

    /// The arguments of this `tools/call`, wherever they stand in its params.
    fn call_arguments<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let text = &self.0.text[..];
        let mut members = Members::new(text, self.0.envelope.params.as_ref()?.start);
        let mut found = None;
        while let Some((name, start)) = members.next() {
            if name == b"arguments" {
                found = Some(&text[start..members.extent().end]);
            }
        }
        found.map(|value| PyBytes::new(py, value))
    }

    /// The page of tools in this answer; in a broken one, as far as its brackets let see.
    /// Raises `ValueError` with prose when there is no list of tools.
    fn page(&self, py: Python<'_>) -> PyResult<Page> {
        let text = &self.0.text;
        let judged = self.0.envelope.result.as_ref().map(|span| span.start);
        let start = judged.or_else(|| result_of_broken(text)).unwrap_or(text.len());
        let read = || listing::page(text, start, judged.is_some());
        let page = if text.len() >= DETACH { py.detach(read) } else { read() };
        let mut page = page.map_err(pyo3::exceptions::PyValueError::new_err)?;
        if self.0.envelope.bad_utf8 {
            page.warnings.push(result::BAD_UTF8.to_owned());
        }
        Page::new(py, page)
    }

    /// The result of a `tools/call`; `None` when the frame is no result. Raises `ValueError` with prose when it nests too
    /// deep.
    fn call_result(&self) -> PyResult<Option<CallResult>> {
        self.read_result().transpose()
    }

    /// The same of a call that went well; `None` for every other frame, which `call_result` then says more about.
    fn good_result(&self) -> Option<CallResult> {
        self.read_result()?.ok().filter(CallResult::is_good)
    }
}

impl Frame {
    fn read_result(&self) -> Option<PyResult<CallResult>> {
        match (&self.0.envelope.kind, &self.0.envelope.result) {
            (Kind::Result, Some(span)) => {
                let mut read = call_result(&self.0.text, span.start);
                if let (Ok(result), true) = (&mut read, self.0.envelope.bad_utf8) {
                    result.0.warnings.push(result::BAD_UTF8);
                }
                Some(read)
            }
            _ => None,
        }
    }
}

/// Where the result starts in a message that is no JSON.
fn result_of_broken(text: &[u8]) -> Option<usize> {
    let mut members = Members::new(text, whitespace(text, 0));
    while let Some((name, start)) = members.next() {
        if name == b"result" && text.get(start) == Some(&b'{') {
            return Some(start);
        }
    }
    None
}

/// Reads one whole message, as our own side wrote it. Raises `JsonError` when it is no JSON object.
#[pyfunction]
pub fn read_message(text: &[u8]) -> PyResult<Frame> {
    let (start, end) = judged(text)?;
    let (envelope, _) = envelope::read(text, start).map_err(json_error)?;
    Ok(Frame(inbound::Frame {
        text: Bytes::copy_from_slice(&text[start..end]),
        envelope,
    }))
}

/// The result of a `tools/call` that came as a value of its own. Raises `JsonError`, and `ValueError` on depth.
#[pyfunction]
pub fn read_result(text: &[u8]) -> PyResult<CallResult> {
    call_result(&result_frame(text)?.0.text, 0)
}

fn call_result(text: &Bytes, start: usize) -> PyResult<CallResult> {
    result::CallResult::read(text, start).map(CallResult).map_err(|depth| {
        pyo3::exceptions::PyValueError::new_err(format!(
            "the result nests {depth} levels deep, over the limit of {}",
            crate::limits::DEPTH
        ))
    })
}

/// A page of tools that came as a value of its own. Raises `JsonError`, and `ValueError` without a list.
#[pyfunction]
pub fn read_page(py: Python<'_>, text: &[u8]) -> PyResult<Page> {
    result_frame(text)?.page(py)
}

fn result_frame(text: &[u8]) -> PyResult<Frame> {
    let (start, end) = judged(text)?;
    let mut envelope = envelope::Envelope::broken(envelope::Fault::NoBody, Id::Absent);
    envelope.kind = Kind::Result;
    envelope.result = Some(0..end - start);
    Ok(Frame(inbound::Frame {
        text: Bytes::copy_from_slice(&text[start..end]),
        envelope,
    }))
}

fn judged(text: &[u8]) -> PyResult<(usize, usize)> {
    checked(text).map_err(json_error)?;
    document(text, usize::MAX, &mut Nothing).map_err(json_error)
}
