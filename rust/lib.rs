//! The core of toolwire: exact JSON text, framing and JSON-RPC, the shapes of MCP; and, under `py`, the border to Python.

pub mod error;
pub mod json;
pub mod limits;
pub mod wire;
