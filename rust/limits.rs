//! Every bound of the core, each with its reason. No other file invents one.

/// Levels of nesting that a schema, arguments or a result may have. Real schemas reach 14; pydantic's own
/// parser gives up near 200, so 256 keeps everything that any peer could have read, and stays cheap to track.
pub const DEPTH: usize = 256;

/// Longest line read from a peer, in bytes, without its newline. The largest real listing is 1 MB; a result
/// may carry a file. Beyond it the line is drained and the request that it names is failed.
pub const LINE: usize = 64 * 1024 * 1024;

/// Longest arguments that are sent, in bytes: what no peer with our own bound on a line could read is no call.
pub const ARGUMENTS: usize = LINE;

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

/// Longest instance that is validated, in bytes. Its tree takes up to twelve times as much; a result over it is kept and
/// reported as not checked.
pub const INSTANCE: usize = 16 * 1024 * 1024;

/// Digits of a number's exponent that a validator reads. `1e400` has three; beyond 36 sums of exponents leave 128 bits.
pub const EXPONENT: usize = 36;

/// Digits of a `multipleOf`. Division by it costs the product of both lengths.
pub const DIVISOR: usize = 1_000;

/// References that a schema unfolds to. The corpus reaches 162; 28 doubled levels would be 268 million.
pub const EXPANSIONS: u64 = 100_000;

/// Schemas that a document holds, as far as they are reached. Each takes the compiler some 20 microseconds.
pub const SCHEMAS: usize = 50_000;

/// References that lead from one to the next. The compiler keeps all that are open for each that it puts off.
pub const REFERENCES: u64 = 1_000;

/// Schemas that apply to one and the same value. The corpus reaches 21, a list of constants some thousands; the compiler
/// takes about 20 microseconds for each where `unevaluatedProperties` looks through them.
pub const HERE: u64 = 10_000;

/// Schemas within schemas that apply to one and the same value: compiler and validator recurse that deep at each level of
/// the value. The corpus reaches 4.
pub const CHAIN: u64 = 256;

/// Bytes of one compiled pattern; a megabyte takes the compiler 20 ms. `^\p{L}{1,100}$` takes 8 MiB, a host name 64 KiB.
pub const PATTERN: usize = 16 * 1024 * 1024;

/// Bytes of all compiled patterns of one schema that are larger than their text.
pub const PATTERNS: usize = 128 * 1024 * 1024;

/// Bytes that a pattern may remember while it is tried; the engine's own default.
pub const PATTERN_CACHE: usize = 2 * 1024 * 1024;

/// Steps back in one match of a pattern with look-around or references back; a millisecond or so.
pub const BACKTRACKS: usize = 100_000;

/// Time for all matches of such patterns within one value. They are the one thing whose cost can't be counted.
pub const BACKTRACK_TIME: std::time::Duration = std::time::Duration::from_millis(500);

/// Looks at the entries of a value that are made before others are let run; half a millisecond or so.
pub const GLANCE: u64 = 100_000;

/// Time for such patterns within a glance.
pub const GLANCE_TIME: std::time::Duration = std::time::Duration::from_millis(5);

/// Looks at a value of any size before it counts as too costly to check; ten milliseconds, or a hundred of numbers.
pub const LOOKS: u64 = 1_000_000;

/// Looks for each entry of a value besides. An honest schema takes about ten.
pub const LOOKS_EACH: u64 = 50;

/// Looks at the largest value.
pub const LOOKS_ALL: u64 = 100_000_000;

/// The same for finding out all that is wrong, each of which costs more; beyond, the first thing is told.
pub const EXPLAINED: u64 = 20_000;

/// Entries of a value whose outline is built where a pattern was given up on.
pub const OUTLINE: usize = 10_000;

/// Problems that one text tells a model; the others are counted.
pub const PROBLEMS: usize = 3;

/// Characters of a value or a schema's word that a problem quotes.
pub const QUOTE: usize = 60;

/// Levels of a schema that are compiled on the caller's stack, times references within references; real ones without
/// reach 14.
pub const SHALLOW: usize = 20;

/// References within references that the compiler follows on its stack: it puts a ninth off until the stack is free.
pub const FOLLOWED: u64 = 8;

/// Stack of the thread that compiles a deeper one.
pub const COMPILE_STACK: usize = 64 * 1024 * 1024;

/// Levels of value times schemas within schemas that are checked on the caller's stack; up to two kilobytes each.
pub const FRAMES: usize = 100;

/// Stack for each of them on a thread of their own.
pub const FRAME_STACK: usize = 4 * 1024;
