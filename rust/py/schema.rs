//! A compiled schema as Python has it.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use super::accept::{Text, json_error};
use crate::limits::DETACH;
use crate::schema::compile::{Compiled, Fault, compile, compile_all};
use crate::schema::explain::{self, Problem};
use crate::schema::validate::{TOO_COSTLY, Verdict};

pyo3::create_exception!(
    toolwire,
    SchemaFault,
    pyo3::exceptions::PyValueError,
    "A schema that does not compile. `args` is `(prose,)`."
);

/// A schema, compiled once. Nothing that it refers to outside of itself is ever fetched.
#[pyclass(frozen, module = "toolwire._core")]
pub struct Validator(Compiled);

#[pymethods]
impl Validator {
    /// Raises `JsonError` where the text is not I-JSON, `SchemaFault` where it does not compile.
    #[new]
    fn new(py: Python<'_>, schema: Text) -> PyResult<Self> {
        py.detach(|| compile(schema.as_ref())).map(Self).map_err(refused)
    }

    /// Many schemas at once, side by side; the validator of each, or the error that it raises alone.
    #[staticmethod]
    fn many(py: Python<'_>, schemas: Vec<Text>) -> PyResult<Vec<Py<PyAny>>> {
        let outcomes = py.detach(|| compile_all(&schemas)).into_iter();
        let item = |outcome: Result<Compiled, Fault>| match outcome {
            Ok(compiled) => Self(compiled).into_py_any(py),
            Err(fault) => refused(fault).into_py_any(py),
        };
        outcomes.map(item).collect()
    }

    /// `None` if the value fits, else what is wrong with it. Raises `JsonError` where the text is not I-JSON.
    fn check(&self, py: Python<'_>, instance: Text) -> PyResult<Option<String>> {
        Ok(match self.judge(py, instance.as_ref())? {
            Verdict::Fits => None,
            Verdict::Misfits(problems) => Some(explain::text(&problems)),
            Verdict::Undecided => Some(TOO_COSTLY.into()),
        })
    }

    /// Everything that is wrong with the value: dotted path and message. Raises `JsonError` where it is not I-JSON.
    fn errors(&self, py: Python<'_>, instance: Text) -> PyResult<Vec<(String, String)>> {
        Ok(match self.judge(py, instance.as_ref())? {
            Verdict::Fits => Vec::new(),
            Verdict::Misfits(problems) => problems
                .into_iter()
                .map(|Problem { path, message, .. }| (path, message))
                .collect(),
            Verdict::Undecided => vec![(String::new(), TOO_COSTLY.into())],
        })
    }
}

fn refused(fault: Fault) -> PyErr {
    match fault {
        Fault::Json(error) => json_error(error),
        Fault::Schema(prose) => SchemaFault::new_err((prose,)),
    }
}

impl Validator {
    /// A short look that holds the GIL; where that does not do, or the text is long, a thorough one without it.
    fn judge(&self, py: Python<'_>, text: &[u8]) -> PyResult<Verdict> {
        if text.len() <= DETACH {
            let verdict = self.0.glance(text).map_err(json_error)?;
            if verdict != Verdict::Undecided {
                return Ok(verdict);
            }
        }
        py.detach(|| self.0.judge(text)).map_err(json_error)
    }
}
