//! The border to Python: what comes in, frozen classes over spans, and the one error map. Doors only.

pub mod accept;
pub mod frame;
pub mod json;
pub mod listing;
pub mod result;
