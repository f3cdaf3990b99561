//! Results of calls.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::json::text::decode;
use crate::json::walk::Members;
use crate::mcp::content::{self, Kind, Resource};
use crate::mcp::result::{self, Render};

/// The answer to a `tools/call`.
#[pyclass(frozen, module = "toolwire._core")]
pub struct CallResult(pub result::CallResult);

impl CallResult {
    /// It is the whole result, and no error.
    pub fn is_good(&self) -> bool {
        !self.is_error() && self.is_complete()
    }
}

#[pymethods]
impl CallResult {
    /// The text that a model reads, by a rule's name: `default`, `auto`, `content`, `structured`, `both`.
    fn render(&self, rule: &str) -> PyResult<Cow<'_, str>> {
        let rule = match rule {
            "default" => Render::Default,
            "auto" => Render::Auto,
            "content" => Render::Content,
            "structured" => Render::Structured,
            "both" => Render::Both,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "no rule {rule:?}: default, auto, content, structured, both"
                )));
            }
        };
        Ok(self.0.render(rule))
    }

    #[getter]
    fn is_error(&self) -> bool {
        self.0.is_error
    }

    /// The server says that this is the whole result, or says nothing about it.
    #[getter]
    fn is_complete(&self) -> bool {
        self.0.result_type.as_deref().is_none_or(|kind| kind == "complete")
    }

    #[getter]
    fn result_type(&self) -> Option<&str> {
        self.0.result_type.as_deref()
    }

    /// The structured value's bytes; `None` when absent, `b"null"` when null.
    #[getter]
    fn structured<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.structured.of(&self.0.text).map(|value| PyBytes::new(py, value))
    }

    /// The list of blocks as the server sent it; `None` where there is none.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0
            .content
            .of(&self.0.text)
            .filter(|value| value[0] == b'[')
            .map(|value| PyBytes::new(py, value))
    }

    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.meta.of(&self.0.text).map(|value| PyBytes::new(py, value))
    }

    /// The whole result as the server sent it.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.text)
    }

    fn warnings(&self) -> Vec<String> {
        self.0.all_warnings()
    }

    /// The blocks of the content, in order.
    fn blocks(&self) -> Vec<Block> {
        let blocks = self.0.blocks().into_iter();
        blocks
            .map(|(start, end)| Block {
                text: self.0.text.slice(start..end),
            })
            .collect()
    }
}

/// Where the last member of that name has its value.
fn member(object: &[u8], wanted: &str) -> Option<usize> {
    let mut found = None;
    let mut members = Members::new(object, 0);
    while let Some((name, value)) = members.next() {
        if decode(name) == wanted {
            found = Some(value);
        }
    }
    found
}

/// One content block.
#[pyclass(frozen, module = "toolwire._core")]
pub struct Block {
    text: bytes::Bytes,
}

fn text(inner: Option<&[u8]>) -> Option<String> {
    inner.map(|inner| decode(inner).into_owned())
}

#[pymethods]
impl Block {
    /// `text`, `image`, `audio`, `resource`, `resource_link`, `unsupported` or `broken`.
    #[getter]
    fn kind(&self) -> &'static str {
        match content::read(&self.text) {
            Kind::Text(_) => "text",
            Kind::Media { word, .. } => word,
            Kind::Resource(_) => "resource",
            Kind::Link { .. } => "resource_link",
            Kind::Unsupported(_) => "unsupported",
            Kind::Broken(_) => "broken",
        }
    }

    /// The line that stands for the block.
    #[getter]
    fn line(&self) -> String {
        content::line(&content::read(&self.text), false).into_owned()
    }

    /// The text of a text block or a text resource.
    #[getter]
    fn content(&self) -> Option<String> {
        match content::read(&self.text) {
            Kind::Text(inner) => text(Some(inner)),
            Kind::Resource(resource) => text(resource.text),
            _ => None,
        }
    }

    #[getter]
    fn mime_type(&self) -> Option<String> {
        match content::read(&self.text) {
            Kind::Media { mime_type, .. } => text(Some(mime_type)),
            Kind::Resource(Resource { mime_type, .. }) | Kind::Link { mime_type, .. } => text(mime_type),
            _ => None,
        }
    }

    #[getter]
    fn uri(&self) -> Option<String> {
        match content::read(&self.text) {
            Kind::Resource(Resource { uri, .. }) | Kind::Link { uri, .. } => text(Some(uri)),
            _ => None,
        }
    }

    #[getter]
    fn name(&self) -> Option<String> {
        match content::read(&self.text) {
            Kind::Link { name, .. } => text(name),
            _ => None,
        }
    }

    /// The decoded bytes of an image, an audio or a blob.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        match content::read(&self.text) {
            Kind::Media { data, size, .. }
            | Kind::Resource(Resource {
                blob: Some((data, size)),
                ..
            }) => PyBytes::new_with(py, size, |room| {
                content::decode_into(data, room);
                Ok(())
            })
            .map(Some),
            _ => Ok(None),
        }
    }

    /// The members of the block, or of its member `inside`, each with its own bytes; no object has none.
    /// Of `glimpsed` there are the first two bytes alone: nobody copies an image to look at what stands beside it.
    #[pyo3(signature = (glimpsed, inside = None))]
    fn members<'py>(&self, py: Python<'py>, glimpsed: &str, inside: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        let Some(start) = inside.map_or(Some(0), |name| member(&self.text, name)) else {
            return Ok(out);
        };
        let mut members = Members::new(&self.text, start);
        while let Some((name, value)) = members.next() {
            let name = decode(name);
            let value = &self.text[value..members.extent().end];
            let kept = if name == glimpsed {
                &value[..2.min(value.len())]
            } else {
                value
            };
            out.set_item(name, PyBytes::new(py, kept))?;
        }
        Ok(out)
    }

    /// How many bytes `data` has, without decoding it.
    #[getter]
    fn size(&self) -> Option<usize> {
        match content::read(&self.text) {
            Kind::Media { size, .. }
            | Kind::Resource(Resource {
                blob: Some((_, size)), ..
            }) => Some(size),
            _ => None,
        }
    }

    /// The block as the server sent it.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.text)
    }
}
