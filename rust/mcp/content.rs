//! Content blocks of a result: what each is, and the one line that stands for it in a model's text.
//!
//! A block that can't be read is a `Broken` block with its reason; the blocks beside it stand.

use std::borrow::Cow;

use crate::json::raw::{article, word};
use crate::json::scan::whitespace;
use crate::json::text::{decode, unescape};
use crate::json::walk::{Members, skip};
use crate::limits::BLOCKS;

/// What a block holds. Slices are the values' bytes, strings without their quotes, escapes as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind<'a> {
    Text(&'a [u8]),
    /// Image or audio: the word, the MIME type, the base64 text and the size of what it encodes.
    Media {
        word: &'static str,
        mime_type: &'a [u8],
        data: &'a [u8],
        size: usize,
    },
    /// An embedded resource, by what it carries.
    Resource(Resource<'a>),
    Link {
        uri: &'a [u8],
        name: Option<&'a [u8]>,
        mime_type: Option<&'a [u8]>,
    },
    Unsupported(&'a [u8]),
    Broken(String),
}

/// An embedded resource; a `blob` comes with the size of what it encodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resource<'a> {
    pub uri: &'a [u8],
    pub mime_type: Option<&'a [u8]>,
    pub text: Option<&'a [u8]>,
    pub blob: Option<(&'a [u8], usize)>,
}

/// The members that any kind of block may have, in one walk.
#[derive(Default)]
struct Parts<'a> {
    kind: Option<&'a [u8]>,
    text: Option<&'a [u8]>,
    data: Option<&'a [u8]>,
    mime_type: Option<&'a [u8]>,
    uri: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    blob: Option<&'a [u8]>,
    resource: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// The members of the object at `start`, and the offset behind it.
    fn read(value: &'a [u8], start: usize) -> (Self, usize) {
        let mut parts = Self::default();
        let mut members = Members::new(value, start);
        while let Some((name, start)) = members.next() {
            let slot = match &*unescape(name) {
                b"type" => &mut parts.kind,
                b"text" => &mut parts.text,
                b"data" => &mut parts.data,
                b"mimeType" => &mut parts.mime_type,
                b"uri" => &mut parts.uri,
                b"name" => &mut parts.name,
                b"blob" => &mut parts.blob,
                b"resource" => &mut parts.resource,
                _ => continue,
            };
            *slot = Some(&value[start..members.extent().end]);
        }
        (parts, members.finish())
    }
}

fn inner(value: Option<&[u8]>) -> Option<&[u8]> {
    match value? {
        [b'"', inner @ .., b'"'] => Some(inner),
        _ => None,
    }
}

/// A member that must be a string.
fn required<'a>(value: Option<&'a [u8]>, name: &str) -> Result<&'a [u8], String> {
    match value {
        None => Err(format!("no {name}")),
        Some(value) => inner(Some(value)).ok_or_else(|| format!("{name} is {}, not a string", article(word(value)))),
    }
}

/// A member that may be left out, or be null; what a reader would miss can't be anything but a string.
fn optional<'a>(value: Option<&'a [u8]>, name: &str) -> Result<Option<&'a [u8]>, String> {
    match value {
        None | Some(b"null") => Ok(None),
        value => required(value, name).map(Some),
    }
}

/// Reads one judged block.
#[must_use]
pub fn read(block: &[u8]) -> Kind<'_> {
    read_at(block, 0).0
}

/// Reads the judged block at `start` in one walk; gives the offset behind it too.
#[must_use]
pub fn read_at(text: &[u8], start: usize) -> (Kind<'_>, usize) {
    if text.get(start) == Some(&b'{') {
        let (parts, end) = Parts::read(text, start);
        (kind(&parts).unwrap_or_else(Kind::Broken), end)
    } else {
        let end = skip(text, start).end;
        let why = format!("{}, not an object", article(word(&text[start..end])));
        (Kind::Broken(why), end)
    }
}

fn kind<'a>(parts: &Parts<'a>) -> Result<Kind<'a>, String> {
    Ok(match required(parts.kind, "type")? {
        b"text" => Kind::Text(required(parts.text, "text")?),
        b"image" => media("image", parts)?,
        b"audio" => media("audio", parts)?,
        b"resource" => Kind::Resource(resource(parts.resource)?),
        b"resource_link" => Kind::Link {
            uri: required(parts.uri, "uri")?,
            name: inner(parts.name),
            mime_type: inner(parts.mime_type),
        },
        other => Kind::Unsupported(other),
    })
}

fn media<'a>(word: &'static str, parts: &Parts<'a>) -> Result<Kind<'a>, String> {
    let data = required(parts.data, "data")?;
    let size = decoded_size(data).ok_or("data is not base64")?;
    Ok(Kind::Media {
        word,
        mime_type: required(parts.mime_type, "mimeType")?,
        data,
        size,
    })
}

fn resource(value: Option<&[u8]>) -> Result<Resource<'_>, String> {
    // A resource that is missing is an empty marker, as the reference has it: nothing else can be said of it.
    let Some(value) = value.filter(|value| *value != b"null") else {
        return Ok(Resource::default());
    };
    if value.first() != Some(&b'{') {
        return Err(format!("resource is {}, not an object", article(word(value))));
    }
    let (parts, _) = Parts::read(value, 0);
    let blob = match optional(parts.blob, "blob")? {
        Some(data) => Some((data, decoded_size(data).ok_or("blob is not base64")?)),
        None => None,
    };
    Ok(Resource {
        uri: optional(parts.uri, "uri")?.unwrap_or_default(),
        mime_type: inner(parts.mime_type),
        text: optional(parts.text, "text")?,
        blob,
    })
}

/// A base64 text without its escapes and its white space: encoders of mail break it into lines.
fn digits(data: &[u8]) -> Cow<'_, [u8]> {
    let mut data = unescape(data);
    if data.iter().any(u8::is_ascii_whitespace) {
        data.to_mut().retain(|byte| !byte.is_ascii_whitespace());
    }
    data
}

/// The base64 text of a block holds white space, which is forgiven.
#[must_use]
pub fn is_spaced(kind: &Kind<'_>) -> bool {
    match kind {
        Kind::Media { data, .. }
        | Kind::Resource(Resource {
            blob: Some((data, _)), ..
        }) => unescape(data).iter().any(u8::is_ascii_whitespace),
        _ => false,
    }
}

/// The bytes that a base64 text encodes; `None` when it is none. Padding may be left out, as some peers do.
#[must_use]
pub fn decoded_size(data: &[u8]) -> Option<usize> {
    let data = digits(data);
    let padding = data.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let digits = &data[..data.len() - padding];
    let valid = digits
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    let rest = digits.len() % 4;
    let padded = padding == 0 || (digits.len() + padding).is_multiple_of(4);
    (valid && rest != 1 && padded).then_some(digits.len() / 4 * 3 + rest.saturating_sub(1))
}

/// Decodes a base64 text that `decoded_size` has accepted.
#[must_use]
pub fn decode_base64(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; decoded_size(data).unwrap_or_default()];
    decode_into(data, &mut out);
    out
}

/// The same, into the `decoded_size` bytes that somebody else has made room for.
pub fn decode_into(data: &[u8], out: &mut [u8]) {
    let data = digits(data);
    let digits = data.split(|byte| *byte == b'=').next().unwrap_or_default();
    for (group, room) in digits.chunks(4).zip(out.chunks_mut(3)) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, byte| bits << 6 | u32::from(sextet(*byte)));
        let bytes = (bits << (6 * (4 - group.len()))).to_be_bytes();
        room.copy_from_slice(&bytes[1..=room.len()]);
    }
}

const fn sextet(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    }
}

/// The line that stands for a block (spec 1.4, design 4.4). `expand` puts a text resource's text beneath its marker.
#[must_use]
pub fn line<'a>(kind: &Kind<'a>, expand: bool) -> Cow<'a, str> {
    match kind {
        Kind::Text(text) => decode(text),
        Kind::Media {
            word, mime_type, size, ..
        } => format!("[{word} {}, {size} bytes]", decode(mime_type)).into(),
        Kind::Resource(Resource {
            uri, text: Some(text), ..
        }) if expand => format!("[resource {}]\n{}", decode(uri), decode(text)).into(),
        Kind::Resource(Resource { uri, .. }) | Kind::Link { uri, .. } => format!("[resource {}]", decode(uri)).into(),
        Kind::Unsupported(kind) => format!("[unsupported block: {}]", decode(kind)).into(),
        Kind::Broken(why) => format!("[broken block: {why}]").into(),
    }
}

/// The blocks of the judged content at `start`, each with its text; a content that is no list is one broken block.
#[must_use]
pub fn blocks(text: &[u8], start: usize) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut elements = crate::json::walk::Elements::new(text, whitespace(text, start));
    while let Some(at) = elements.next() {
        if spans.len() == BLOCKS {
            // What no block can be: a text without brackets and quotes is read as a broken one.
            spans.push((at, at));
            break;
        }
        spans.push((at, elements.extent().end));
    }
    spans
}

/// Why the blocks beyond the bound are not read.
#[must_use]
pub fn too_many() -> String {
    format!("over {BLOCKS} blocks, the rest is in the raw result")
}

#[cfg(test)]
mod tests;
