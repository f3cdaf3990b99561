//! The border to Python: what comes in, frozen classes over spans, and the one error map. Doors only.

#![expect(
    clippy::needless_pass_by_value,
    reason = "an argument arrives by value: PyO3 builds it and gives it away"
)]

pub mod accept;
pub mod base64;
pub mod frame;
pub mod inbound;
pub mod json;
pub mod listing;
pub mod result;
pub mod schema;
pub mod served;
pub mod sse;
