//! JSON text, and no protocol: nothing here knows what a message, a tool or Python is.
//!
//! `scan` is the judge (grammar, depth), `walk` steps through text that was judged, `raw` is one value that
//! keeps its bytes, `text` reads a string's characters, `equal` compares values, `write` pastes them.

pub mod equal;
#[cfg(test)]
mod fuzz;
pub mod names;
mod nesting;
pub mod number;
pub mod place;
pub mod raw;
#[cfg(test)]
pub(crate) mod sample;
pub mod scan;
mod search;
pub mod text;
pub mod walk;
pub mod write;
