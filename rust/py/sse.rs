//! The state that makes events out of chunks, and the events.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::limits::{DETACH, LINE};
use crate::wire::sse;

/// One event: its name, its data as bytes, its id.
#[pyclass(frozen, module = "toolwire._core")]
pub struct Event {
    event: sse::Event,
    limit: usize,
}

#[pymethods]
impl Event {
    /// `message` where the event has none.
    #[getter]
    fn name(&self) -> &str {
        match &self.event.name[..] {
            "" => "message",
            name => name,
        }
    }

    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.event.data)
    }

    /// The id that this event itself carries.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.event.id.as_deref()
    }

    #[getter]
    fn cut(&self) -> bool {
        self.event.cut
    }

    /// Why the data is not all of it.
    #[getter]
    fn fault(&self) -> Option<String> {
        let size = self.event.oversize?;
        Some(format!(
            "the server's event of {size} bytes is over the limit of {} bytes",
            self.limit
        ))
    }
}

/// Bytes of a stream to events. One crossing a chunk.
#[pyclass(frozen, module = "toolwire._core")]
pub struct EventStream {
    state: Mutex<sse::Events>,
    limit: usize,
}

impl EventStream {
    fn state(&self) -> MutexGuard<'_, sse::Events> {
        // A panic inside a feed leaves the state usable: at worst one event is lost.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, event: sse::Event) -> Event {
        Event {
            event,
            limit: self.limit,
        }
    }
}

#[pymethods]
impl EventStream {
    #[new]
    #[pyo3(signature = (limit = LINE))]
    fn new(limit: usize) -> Self {
        Self {
            state: Mutex::new(sse::Events::new(limit)),
            limit,
        }
    }

    /// The events that `chunk` ends, in order.
    fn feed(&self, py: Python<'_>, chunk: PyBackedBytes) -> Vec<Event> {
        // A chunk is small, but it may end an event that is not.
        let large = self.state().kept() + chunk.len() >= DETACH;
        let events = if large {
            py.detach(|| self.state().feed(&chunk))
        } else {
            self.state().feed(&chunk)
        };
        events.into_iter().map(|event| self.event(event)).collect()
    }

    /// The stream has ended: the event that it cut, where nothing of its data is missing.
    fn finish(&self, py: Python<'_>) -> Vec<Event> {
        let event = py.detach(|| self.state().finish());
        event.map(|event| self.event(event)).into_iter().collect()
    }

    #[getter]
    fn last_id(&self) -> String {
        self.state().last_id().to_owned()
    }

    #[getter]
    fn retry(&self) -> Option<u64> {
        self.state().retry()
    }
}
