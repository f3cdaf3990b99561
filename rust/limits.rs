//! Every bound of the core, each with its reason. No other file invents one.

/// Levels of nesting that a schema, arguments or a result may have. Real schemas reach 14; pydantic's own
/// parser gives up near 200, so 256 keeps everything that any peer could have read, and stays cheap to track.
pub const DEPTH: usize = 256;

/// Longest line read from a peer, in bytes, without its newline. The largest real listing is 1 MB; a result
/// may carry a file. Beyond it the line is drained and the request that it names is failed.
pub const LINE: usize = 64 * 1024 * 1024;

/// Bytes kept from each end of a line that is over the cap: an envelope's `id` stands first or last.
pub const OVERSIZE_CLIP: usize = 4 * 1024;

/// Noise lines of a peer kept for its error messages; the others are counted.
pub const NOISE_SAMPLES: usize = 8;

/// Bytes kept of one noise line.
pub const NOISE_CLIP: usize = 400;

/// Places in a noisy line that are tried as the start of a message, so that noise costs linear time.
pub const SALVAGE_TRIES: usize = 64;

/// Bytes that all tries at one line may read in vain. Tries nested in each other would read a long line 64 times.
pub const SALVAGE_BYTES: usize = 4 * 1024 * 1024;

/// Above this many bytes the GIL is let go while a chunk or a page is read; below, letting go costs more than the work.
pub const DETACH: usize = 1024 * 1024;

/// Largest input schema in bytes; the largest real one has 60 KB.
pub const SCHEMA: usize = 8 * 1024 * 1024;

/// Bytes of a peer's text that an error message quotes.
pub const CLIP: usize = 200;

/// Oddities of one schema that are told with their place; telling one walks the schema, so the others are counted.
pub const ODDITIES: usize = 16;

/// Blocks of one result that are read. Real results have a handful, a listing as text a few thousand; beyond the bound
/// the rest is one broken block, and stands in the result's raw bytes.
pub const BLOCKS: usize = 200_000;

/// Warnings about the blocks of one result; the others are counted.
pub const BLOCK_WARNINGS: usize = 100;

/// How many times longer one spelling of a value may be than another that it is compared with. Escapes make it six
/// times as long, layout a few.
pub const SPELLING: usize = 32;

/// First id of an express request. The SDK counts from 1 and would need years to come this far.
pub const EXPRESS_ID: i64 = 1_000_000_000;
