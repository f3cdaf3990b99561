//! Where in a document a byte stands, as a person would say it: `items.0.path`. Made late, for error texts only.

use super::text::decode;
use super::walk::skip_string;
use crate::limits::{CLIP, DEPTH};

enum Step<'a> {
    /// The member's name, and whether another name is due.
    Member(&'a [u8], bool),
    Element(usize),
}

/// The dotted path of the member or element that holds `offset`; empty at the root. Works on text that breaks
/// at or behind the offset. It names no level below the deepest that anything may have, and is cut where it is longer
/// than an error text may quote.
#[must_use]
pub fn path(text: &[u8], offset: usize) -> String {
    let mut path = String::new();
    for (index, step) in steps(text, offset).iter().enumerate() {
        if index > 0 {
            path.push('.');
        }
        match step {
            Step::Member(name, _) => path.push_str(&decode(name)),
            Step::Element(index) => path.push_str(&index.to_string()),
        }
        if path.len() > CLIP {
            let end = (0..=CLIP).rev().find(|end| path.is_char_boundary(*end));
            path.truncate(end.unwrap_or_default());
            path.push('…');
            break;
        }
    }
    path
}

/// The containers that are open at `offset`, outermost first.
fn steps(text: &[u8], offset: usize) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    // Open containers below the last step that is named.
    let mut below = 0_usize;
    let mut position = 0;
    while position <= offset
        && let Some(&byte) = text.get(position)
    {
        match byte {
            b'{' | b'[' if steps.len() == DEPTH => below += 1,
            b'{' => steps.push(Step::Member(b"", true)),
            b'[' => steps.push(Step::Element(0)),
            b'}' | b']' if below > 0 => below -= 1,
            b'}' | b']' => drop(steps.pop()),
            b',' if below == 0 => match steps.last_mut() {
                Some(Step::Element(index)) => *index += 1,
                Some(Step::Member(_, due)) => *due = true,
                None => {}
            },
            b'"' => {
                let end = skip_string(text, position);
                if below == 0
                    && let Some(Step::Member(name, due @ true)) = steps.last_mut()
                {
                    *name = text.get(position + 1..end.saturating_sub(1)).unwrap_or_default();
                    *due = false;
                }
                position = end;
                continue;
            }
            _ => {}
        }
        position += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::{CLIP, path};

    #[test]
    fn a_byte_is_named_by_its_members_and_elements() {
        let text = br#"{"a":1,"items":[{"x":2},{"path":"p","path":NaN"#;
        for (needle, expected) in [
            ("1,", "a"),
            ("2}", "items.0.x"),
            ("\"p\"", "items.1.path"),
            ("NaN", "items.1.path"),
        ] {
            let offset = memchr::memmem::find(text, needle.as_bytes()).unwrap_or_default();
            assert_eq!(path(text, offset), expected, "{needle}");
        }
        assert_eq!(path(b"NaN", 0), "");
        assert_eq!(path(b"", 5), "");
    }

    #[test]
    fn a_path_is_bounded_in_depth_and_length() {
        let deep = "[".repeat(300) + "0,";
        assert_eq!(path(deep.as_bytes(), 305).len(), CLIP + '…'.len_utf8());
        let back = "[".repeat(300) + &"]".repeat(298) + ",{\"x\":1";
        assert_eq!(path(back.as_bytes(), back.len()), "0.1.x");
        let long = format!("{{\"a\":1,\"{}\":2", "é".repeat(CLIP));
        assert_eq!(path(long.as_bytes(), long.len()), "é".repeat(CLIP / 2) + "…");
    }
}
