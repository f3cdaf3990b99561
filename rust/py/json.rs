//! Functions over JSON text.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::accept::{Text, json_error, refused};
use crate::json::scan::{self, Nothing};
use crate::json::walk::Members;
use crate::limits::{DEPTH, DETACH};
use crate::mcp::call;
use crate::{json, schema};

/// Judges `text`: exactly one JSON value. Raises `JsonError`.
#[pyfunction]
#[pyo3(signature = (text, *, depth = DEPTH))]
pub fn validate(text: Text, depth: usize) -> PyResult<()> {
    judged(text.as_ref(), depth).map(|_| ())
}

fn judged(text: &[u8], depth: usize) -> PyResult<(usize, usize)> {
    scan::checked(text).map_err(json_error)?;
    scan::document(text, depth, &mut Nothing).map_err(json_error)
}

/// The value without the white space between its tokens.
#[pyfunction]
pub fn compact(py: Python<'_>, text: Text) -> PyResult<Bound<'_, PyBytes>> {
    judged(text.as_ref(), usize::MAX)?;
    let mut out = Vec::new();
    json::write::compact(text.as_ref(), &mut out);
    Ok(PyBytes::new(py, &out))
}

/// Are two texts the same JSON value, with exact numbers?
#[pyfunction]
pub fn equal(left: Text, right: Text) -> PyResult<bool> {
    judged(left.as_ref(), DEPTH)?;
    judged(right.as_ref(), DEPTH)?;
    Ok(json::equal::equal(left.as_ref(), right.as_ref()))
}

/// The members of an object, each with its value's own bytes; of a repeated name the last. No object has none.
#[pyfunction]
pub fn members(py: Python<'_>, text: Text) -> PyResult<Bound<'_, PyDict>> {
    let text = text.as_ref();
    let (start, _) = judged(text, usize::MAX)?;
    let out = PyDict::new(py);
    let mut members = Members::new(text, start);
    while let Some((name, value)) = members.next() {
        out.set_item(
            json::text::decode(name),
            PyBytes::new(py, &text[value..members.extent().end]),
        )?;
    }
    Ok(out)
}

/// The elements of a JSON array, each its exact bytes. Raises `JsonError` for anything else.
#[pyfunction]
pub fn elements(py: Python<'_>, text: Text) -> PyResult<Vec<Bound<'_, PyBytes>>> {
    let text = text.as_ref();
    let (start, _) = judged(text, usize::MAX)?;
    let mut walk = json::walk::Elements::new(text, start);
    let mut out = Vec::new();
    while let Some(at) = walk.next() {
        out.push(PyBytes::new(py, &text[at..walk.extent().end]));
    }
    if walk.broken() {
        Err(refused("not a JSON array", "not_an_array", 0))
    } else {
        Ok(out)
    }
}

/// The bytes to send for a model's arguments. Raises `JsonError` with the model's text.
#[pyfunction]
pub fn check_arguments(py: Python<'_>, arguments: Text) -> PyResult<Bound<'_, PyBytes>> {
    Ok(PyBytes::new(py, &checked(py, arguments.as_ref())?))
}

/// `check_arguments`, for whoever stands in the core already.
pub fn checked<'a>(py: Python<'_>, arguments: &'a [u8]) -> PyResult<Cow<'a, [u8]>> {
    let checked = if arguments.len() > DETACH {
        py.detach(|| call::check(arguments))
    } else {
        call::check(arguments)
    };
    checked.map_err(|refusal| {
        let (kind, offset) = match &refusal {
            call::Refusal::Json { error, .. } => (error.kind.word(), error.offset),
            call::Refusal::NotAnObject(_) => ("not_an_object", 0),
            call::Refusal::Trailing => ("trailing_text", 0),
            call::Refusal::Repeated { offset, .. } => ("duplicate_member", *offset),
            call::Refusal::LoneSurrogate { offset, .. } => ("lone_surrogate", *offset),
            call::Refusal::TooLarge(_) => ("too_large", 0),
        };
        refused(refusal.prose(), kind, i64::try_from(offset).unwrap_or(-1))
    })
}

/// A `tools/call` line. `name` is the name's JSON as the server spells it, `meta` the members of `_meta`.
#[pyfunction]
pub fn tools_call<'py>(
    py: Python<'py>,
    id: i64,
    name: &[u8],
    arguments: Text,
    meta: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let arguments = checked(py, arguments.as_ref())?;
    Ok(PyBytes::new(py, &call::tools_call(id, name, &arguments, meta)))
}

/// A request's line; `params` are the members of its params.
#[pyfunction]
pub fn request<'py>(py: Python<'py>, id: i64, method: &str, params: &[u8], meta: &[u8]) -> Bound<'py, PyBytes> {
    let line = call::request(id, method, meta, params.len(), |line| json::write::paste(params, line));
    PyBytes::new(py, &line)
}

/// Judges what our own side made. Raises `JsonError` whose prose names the path of the fault.
#[pyfunction]
pub fn check_output(text: Text) -> PyResult<()> {
    let text = text.as_ref();
    let judged = scan::checked(text).and_then(|_| scan::document(text, DEPTH, &mut Nothing));
    judged.map(|_| ()).map_err(|error| {
        let place = json::place::path(text, error.offset);
        let place = if place.is_empty() {
            "the value".into()
        } else {
            format!("\"{place}\"")
        };
        refused(
            format!("{place}: {}", error.kind.prose()),
            error.kind.word(),
            i64::try_from(error.offset).unwrap_or(-1),
        )
    })
}

/// `text` as a JSON string.
#[pyfunction]
pub fn quote<'py>(py: Python<'py>, text: &str) -> Bound<'py, PyBytes> {
    let mut out = Vec::new();
    json::text::quote(text, &mut out);
    PyBytes::new(py, &out)
}

/// The schema's own bytes, without white space around them. Raises `JsonError` with the pinned text (spec 2.6).
#[pyfunction]
pub fn parse_schema(py: Python<'_>, text: Text) -> PyResult<Bound<'_, PyBytes>> {
    let (start, end) = schema::parse(text.as_ref()).map_err(|fault| refused(fault.prose(), "schema", -1))?;
    Ok(PyBytes::new(py, &text.as_ref()[start..end]))
}

/// What is odd about a schema, each with its place.
#[pyfunction]
pub fn schema_warnings(text: Text) -> Vec<String> {
    schema::oddities::warnings(text.as_ref())
}

/// SHA-256 over the parts and where each ends, in hexadecimal.
#[pyfunction]
pub fn fingerprint(parts: Vec<Text>) -> String {
    schema::fingerprint(parts.iter().map(AsRef::as_ref))
}
