//! What comes out of the stream: messages, and the count of what was forgiven on the way.

use bytes::Bytes;

use super::envelope::Envelope;

/// One message with its own text.
#[derive(Debug, Clone)]
pub struct Frame {
    pub text: Bytes,
    pub envelope: Envelope,
}

/// What was forgiven so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub frames: u64,
    pub noise_lines: u64,
    pub salvaged: u64,
    pub bad_utf8: u64,
    pub broken: u64,
    pub multi_line: u64,
    pub oversize: u64,
    pub batches: u64,
}
