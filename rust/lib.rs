//! The core of toolwire: exact JSON text, framing and JSON-RPC, the shapes of MCP; and, under `py`, the border to Python.

pub mod error;
pub mod json;
pub mod limits;
pub mod mcp;
#[cfg(feature = "python")]
mod py;
pub mod schema;
pub mod wire;

#[cfg(feature = "python")]
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::py::accept::JsonError;
    #[pymodule_export]
    use crate::py::base64::base64;
    #[pymodule_export]
    use crate::py::frame::{Frame, read_message, read_page, read_result};
    #[pymodule_export]
    use crate::py::inbound::Inbound;
    #[pymodule_export]
    use crate::py::json::{
        check_arguments, check_output, compact, elements, equal, fingerprint, members, parse_schema, quote, request,
        schema_warnings, tools_call, validate,
    };
    #[pymodule_export]
    use crate::py::listing::{Entry, Page};
    #[pymodule_export]
    use crate::py::result::{Block, CallResult};
    #[pymodule_export]
    use crate::py::schema::{SchemaFault, Validator};
    #[pymodule_export]
    use crate::py::served::{ServedCall, answer, answer_error, content_result, served_call, text_result};
    #[pymodule_export]
    use crate::py::sse::{Event, EventStream};

    #[pymodule_export]
    const EXPRESS_ID: i64 = crate::limits::EXPRESS_ID;
    #[pymodule_export]
    const LINE_LIMIT: usize = crate::limits::LINE;
}
