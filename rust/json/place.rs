//! Where in a document a byte stands, as a person would say it: `items.0.path`. Made late, for error texts only.

use super::text::decode;
use super::walk::skip_string;

enum Step<'a> {
    Member(&'a [u8]),
    Element(usize),
}

/// The dotted path of the member or element that holds `offset`; empty at the root. Works on text that breaks
/// at or behind the offset.
#[must_use]
pub fn path(text: &[u8], offset: usize) -> String {
    let mut steps: Vec<Step<'_>> = Vec::new();
    // The innermost container is an object that expects a member name next.
    let mut names = Vec::new();
    let mut position = 0;
    while position <= offset
        && let Some(&byte) = text.get(position)
    {
        match byte {
            b'{' => {
                steps.push(Step::Member(b""));
                names.push(true);
            }
            b'[' => {
                steps.push(Step::Element(0));
                names.push(false);
            }
            b'}' | b']' => {
                steps.pop();
                names.pop();
            }
            b',' => match steps.last_mut() {
                Some(Step::Element(index)) => *index += 1,
                Some(Step::Member(_)) => {
                    if let Some(expects) = names.last_mut() {
                        *expects = true;
                    }
                }
                None => {}
            },
            b'"' => {
                let end = skip_string(text, position);
                if names.last() == Some(&true) {
                    if let Some(Step::Member(name)) = steps.last_mut() {
                        *name = text.get(position + 1..end.saturating_sub(1)).unwrap_or_default();
                    }
                    names.pop();
                    names.push(false);
                }
                position = end;
                continue;
            }
            _ => {}
        }
        position += 1;
    }
    let words = steps.iter().map(|step| match step {
        Step::Member(name) => decode(name).into_owned(),
        Step::Element(index) => index.to_string(),
    });
    words.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::path;

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
}
