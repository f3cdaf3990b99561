//! Framing and JSON-RPC: bytes to lines to frames. Nothing here knows MCP's methods, or Python.
//!
//! `lines` cuts the stream, `envelope` reads one message, `inbound` puts both together with every leniency
//! that a broken peer needs, and counts each.

pub mod envelope;
mod frame;
mod gather;
pub mod glimpse;
pub mod inbound;
pub mod lines;
pub mod mend;
