//! Listed tools.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::accept::Text;
use super::json::checked;
use crate::mcp::call;
use crate::mcp::listing::{self, Fault, Span, string};
use crate::schema;

/// A page of a listing.
#[pyclass(frozen, module = "toolwire._core")]
pub struct Page {
    #[pyo3(get)]
    entries: Py<PyList>,
    /// The cursor's JSON as the server wrote it.
    #[pyo3(get)]
    next_cursor: Option<Py<PyBytes>>,
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Some schema of the page has an `x-mcp-header` annotation.
    #[pyo3(get)]
    names_headers: bool,
}

impl Page {
    pub fn new(py: Python<'_>, page: listing::Page) -> PyResult<Self> {
        Ok(Self {
            entries: PyList::new(py, page.entries.into_iter().map(Entry))?.unbind(),
            next_cursor: page.next_cursor.map(|cursor| PyBytes::new(py, &cursor).unbind()),
            warnings: page.warnings,
            names_headers: page.names_headers,
        })
    }
}

/// One listed tool: spans of the page that it came in.
#[pyclass(frozen, module = "toolwire._core")]
pub struct Entry(listing::Entry);

impl Entry {
    fn part<'py>(&self, py: Python<'py>, span: Span) -> Option<Bound<'py, PyBytes>> {
        span.of(&self.0.text).map(|value| PyBytes::new(py, value))
    }
}

#[pymethods]
impl Entry {
    /// The server's name for the tool, decoded; empty where it has none.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// The name's JSON as the server spells it.
    #[getter]
    fn name_json<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.name)
    }

    /// Why the entry is no tool.
    #[getter]
    fn fault(&self) -> Option<String> {
        self.0.fault.as_ref().map(Fault::prose)
    }

    /// What kind of fault it is: `entry`, `schema`, or `root` where the schema's root is all that is wrong.
    #[getter]
    fn fault_kind(&self) -> Option<&'static str> {
        match self.0.fault.as_ref()? {
            Fault::Schema(fault) if fault.is_root_shape() => Some("root"),
            Fault::Schema(_) => Some("schema"),
            _ => Some("entry"),
        }
    }

    #[getter]
    fn title(&self) -> Option<String> {
        string(self.0.title.of(&self.0.text))
    }

    #[getter]
    fn description(&self) -> String {
        string(self.0.description.of(&self.0.text)).unwrap_or_default()
    }

    #[getter]
    fn input_schema<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.input_schema)
    }

    /// The output schema, where its root is an object's.
    #[getter]
    fn output_schema<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.object_output().map(|value| PyBytes::new(py, value))
    }

    /// The output schema whatever its root is; `None` where it is absent or null.
    #[getter]
    fn promise<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.output_schema)
    }

    #[getter]
    fn annotations<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.annotations)
    }

    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.part(py, self.0.meta)
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.0.read_only
    }

    /// The whole entry as the server sent it.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.text)
    }

    /// What is odd about the entry.
    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    /// SHA-256 over the exact bytes of name, description and schema.
    fn fingerprint(&self) -> String {
        let text = &self.0.text;
        let parts = [self.0.name, self.0.description, self.0.input_schema];
        schema::fingerprint(parts.map(|span| span.of(text).unwrap_or_default()))
    }

    /// The line of a call of this tool, its name as the server spells it; `meta` are the members of `_meta`.
    /// Raises `JsonError` with the model's text where the arguments are refused.
    fn call_line<'py>(&self, py: Python<'py>, arguments: Text, meta: &[u8], id: i64) -> PyResult<Bound<'py, PyBytes>> {
        let name = self.0.name.of(&self.0.text).unwrap_or_default();
        let arguments = checked(py, arguments.as_ref())?;
        Ok(PyBytes::new(py, &call::tools_call(id, name, &arguments, meta)))
    }
}
