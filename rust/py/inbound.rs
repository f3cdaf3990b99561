//! The state that makes frames out of chunks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use super::frame::Frame;
use super::served::ServedCall;
use crate::limits::{DETACH, LINE};
use crate::wire::inbound;

/// Bytes of a peer to frames. One crossing a chunk.
#[pyclass(frozen, module = "toolwire._core")]
pub struct Inbound(Mutex<inbound::Inbound>);

impl Inbound {
    fn state(&self) -> MutexGuard<'_, inbound::Inbound> {
        // A panic inside a feed leaves the state usable: at worst one line is lost.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frames(&self, py: Python<'_>, chunk: &[u8]) -> Vec<inbound::Frame> {
        // A chunk is small, but it may end a line that is not.
        let large = self.state().kept() + chunk.len() >= DETACH;
        if large {
            py.detach(|| self.state().feed(chunk))
        } else {
            self.state().feed(chunk)
        }
    }
}

#[pymethods]
impl Inbound {
    #[new]
    #[pyo3(signature = (line_limit = LINE))]
    fn new(line_limit: usize) -> Self {
        Self(Mutex::new(inbound::Inbound::new(line_limit)))
    }

    /// The frames that `chunk` completes, in order.
    fn feed(&self, py: Python<'_>, chunk: PyBackedBytes) -> Vec<Frame> {
        self.frames(py, &chunk).into_iter().map(Frame).collect()
    }

    /// The same, with each `tools/call` that is certain to end the same on either lane as a `ServedCall`.
    fn feed_calls(&self, py: Python<'_>, chunk: PyBackedBytes) -> PyResult<Vec<Py<PyAny>>> {
        let frames = self.frames(py, &chunk).into_iter();
        let item = |frame| match ServedCall::of(&frame) {
            Some(call) => ServedCall::new(frame, call).into_py_any(py),
            None => Frame(frame).into_py_any(py),
        };
        frames.map(item).collect()
    }

    /// The stream has ended: the frames that are complete without a newline.
    fn finish(&self) -> Vec<Frame> {
        self.state().finish().into_iter().map(Frame).collect()
    }

    /// What was forgiven so far.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.state().counters;
        let out = PyDict::new(py);
        for (name, count) in [
            ("frames", counters.frames),
            ("noise_lines", counters.noise_lines),
            ("salvaged", counters.salvaged),
            ("bad_utf8", counters.bad_utf8),
            ("broken", counters.broken),
            ("multi_line", counters.multi_line),
            ("oversize", counters.oversize),
            ("batches", counters.batches),
        ] {
            out.set_item(name, count)?;
        }
        Ok(out)
    }

    /// The first lines that were no messages, clipped.
    #[getter]
    fn noise<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.state().noise.iter().map(|line| PyBytes::new(py, line)).collect()
    }

    #[getter]
    fn lsp_framing(&self) -> bool {
        self.state().lsp_framing
    }
}
