//! The characters of a JSON string, and a JSON string of characters.

use std::borrow::Cow;

use super::scan::unit;

/// A string's characters in WTF-8: as UTF-8, and half a surrogate pair as the three bytes it would have.
/// So two strings are equal as JSON exactly when these bytes are equal. `inner` stands between the quotes.
#[must_use]
pub fn unescape(inner: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', inner) else {
        return Cow::Borrowed(inner);
    };
    let mut out = Vec::with_capacity(inner.len());
    let (mut position, mut escape) = (0, first);
    loop {
        out.extend_from_slice(&inner[position..escape]);
        if escape == inner.len() {
            return Cow::Owned(out);
        }
        position = character(inner, escape, &mut out);
        escape = memchr::memchr(b'\\', &inner[position..]).map_or(inner.len(), |found| position + found);
    }
}

/// Reads the escape at `position`; gives the offset behind it.
fn character(inner: &[u8], position: usize, out: &mut Vec<u8>) -> usize {
    out.push(match inner.get(position + 1) {
        Some(b'b') => 0x08,
        Some(b'f') => 0x0C,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => return code_point(inner, position, out),
        Some(&other) => other,
        None => return inner.len(),
    });
    position + 2
}

/// Reads the escape at `position`, and its second half if it has one; gives the offset behind it.
fn code_point(inner: &[u8], position: usize, out: &mut Vec<u8>) -> usize {
    let Ok(high) = unit(inner, position) else {
        return inner.len();
    };
    let mut end = position + 6;
    let mut code = u32::from(high);
    if (0xD800..0xDC00).contains(&code)
        && inner.get(end..end + 2) == Some(b"\\u")
        && let Ok(low @ 0xDC00..=0xDFFF) = unit(inner, end)
    {
        code = 0x1_0000 + ((code - 0xD800) << 10) + (u32::from(low) - 0xDC00);
        end += 6;
    }
    if let Some(character) = char::from_u32(code) {
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        // Half a pair: 1101 1xxx xxyy yyyy, as the three bytes that UTF-8 would give any other code of its size.
        let [top, bottom] = high.to_be_bytes();
        out.extend_from_slice(&[0xED, 0x80 | (top & 0x0F) << 2 | bottom >> 6, 0x80 | bottom & 0x3F]);
    }
    end
}

/// A string's characters, half a surrogate pair replaced by U+FFFD.
#[must_use]
pub fn decode(inner: &[u8]) -> Cow<'_, str> {
    match unescape(inner) {
        // The lossy one looks at every byte by itself, so it is left to text that is not UTF-8.
        Cow::Borrowed(bytes) => match str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Cow::Owned(text),
            Err(error) => Cow::Owned(replace_surrogates(error.as_bytes())),
        },
    }
}

/// `from_utf8_lossy` would put three U+FFFD where one half of a pair stands.
fn replace_surrogates(wtf8: &[u8]) -> String {
    let mut out = Vec::with_capacity(wtf8.len());
    let mut position = 0;
    while let Some(&byte) = wtf8.get(position) {
        if byte == 0xED && wtf8.get(position + 1).is_some_and(|second| *second >= 0xA0) {
            out.extend_from_slice("\u{FFFD}".as_bytes());
            position += 3;
        } else {
            out.push(byte);
            position += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes `text` as a JSON string with its quotes; everything that need not be escaped stays as it is.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut clean = 0;
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let short: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0x08 => b"\\b",
            0x0C => b"\\f",
            0..=0x1F => b"",
            _ => continue,
        };
        out.extend_from_slice(&bytes[clean..index]);
        clean = index + 1;
        if short.is_empty() {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        } else {
            out.extend_from_slice(short);
        }
    }
    out.extend_from_slice(&bytes[clean..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_its_character() {
        assert_eq!(
            decode(br#"a\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00z"#),
            "a\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{1f600}z"
        );
        assert_eq!(decode("plain é".as_bytes()), "plain é");
    }

    #[test]
    fn half_a_pair_is_one_replacement_character_and_stays_itself_for_equality() {
        assert_eq!(decode(br"x\ud800y\udfff"), "x\u{fffd}y\u{fffd}");
        assert_ne!(unescape(br"\ud800"), unescape(br"\ud801"));
        assert_eq!(unescape(br"\uD800"), unescape(br"\ud800"));
    }

    #[test]
    fn quoting_and_reading_are_inverse() {
        for text in ["", "plain", "q\"b\\s/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😀"] {
            let mut out = Vec::new();
            quote(text, &mut out);
            assert_eq!(decode(&out[1..out.len() - 1]), text);
            assert!(crate::json::scan::document(&out, 1, &mut crate::json::scan::Nothing).is_ok());
        }
    }
}
