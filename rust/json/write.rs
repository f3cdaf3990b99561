//! Pasting spans into a line. A value goes out as it came in, but for two rules: a line holds no line break
//! (`paste`), and a text for the model holds no layout (`compact`).

use super::walk::skip_string;

/// Pastes a value into a line. JSON allows CR and LF only between tokens, where a space means the same.
pub fn paste(value: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(value);
    if memchr::memchr2(b'\n', b'\r', value).is_some() {
        for byte in &mut out[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

/// Pastes a value without the white space between its tokens; nothing inside a token changes.
pub fn compact(value: &[u8], out: &mut Vec<u8>) {
    out.reserve(value.len());
    let mut position = 0;
    while let Some(&byte) = value.get(position) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => position += 1,
            b'"' => {
                let end = skip_string(value, position);
                out.extend_from_slice(&value[position..end]);
                position = end;
            }
            _ => {
                out.push(byte);
                position += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_become_spaces_and_nothing_else_changes() {
        let mut out = b"x".to_vec();
        paste(b"{\r\n \"a\\n\":\t1.50}", &mut out);
        assert_eq!(out, b"x{   \"a\\n\":\t1.50}");
    }

    #[test]
    fn compact_drops_layout_only() {
        let mut out = Vec::new();
        compact(b" { \"a b\\\" \" : [ 1.50 , -0, 1E400 ] }\n", &mut out);
        assert_eq!(out, b"{\"a b\\\" \":[1.50,-0,1E400]}");
    }
}
