//! Framing and JSON-RPC: bytes to lines to frames. Nothing here knows MCP's methods, or Python.
//!
//! `lines` cuts a pipe, `sse` a stream of events, `envelope` reads one message, `inbound` puts lines together with every leniency
//! that a broken peer needs, and counts each.

pub mod envelope;
mod frame;
mod gather;
pub mod glimpse;
pub mod inbound;
pub mod lines;
pub mod mend;
pub mod sse;
