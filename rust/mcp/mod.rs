//! The shapes of MCP: a page of a listing, a call's line, a call's result. Spans in, spans out.

pub mod annotations;
pub mod base64;
pub mod call;
pub mod content;
#[cfg(test)]
mod fuzz;
pub mod listing;
pub mod meta;
pub mod result;
pub mod served;
