//! Repeated member names and halves of surrogate pairs: legal to a grammar, and never what anybody meant.

use std::borrow::Cow;

use super::scan::Visitor;
use super::text::unescape;
use crate::error::Error;

/// Names in one object that are compared pair by pair; above, sorting costs less.
const FEW: usize = 16;

/// Collects both kinds while a text is judged. Names are compared after unescaping.
pub struct Names<'a> {
    text: &'a [u8],
    /// Spans of the names in the open containers, innermost last; `marks` says where each container begins.
    open: Vec<(usize, usize)>,
    marks: Vec<usize>,
    /// Offsets of the second and later names of a kind, in the order in which they were noticed.
    pub repeated: Vec<usize>,
    pub lone_surrogate: Option<usize>,
}

impl<'a> Names<'a> {
    #[must_use]
    pub const fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            open: Vec::new(),
            marks: Vec::new(),
            repeated: Vec::new(),
            lone_surrogate: None,
        }
    }

    fn unescaped(&self, (start, end): (usize, usize)) -> Cow<'a, [u8]> {
        unescape(&self.text[start..end])
    }
}

impl Visitor for Names<'_> {
    fn open(&mut self, _: bool, _: usize) -> Result<(), Error> {
        self.marks.push(self.open.len());
        Ok(())
    }

    fn name(&mut self, start: usize, end: usize) -> Result<(), Error> {
        let siblings = &self.open[self.marks.last().copied().unwrap_or_default()..];
        if siblings.len() < FEW {
            let name = self.unescaped((start, end));
            if siblings.iter().any(|span| self.unescaped(*span) == name) {
                self.repeated.push(start);
            }
        }
        self.open.push((start, end));
        Ok(())
    }

    fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or_default();
        if self.open.len() - mark > FEW {
            let mut names: Vec<_> = self.open[mark..]
                .iter()
                .map(|span| (self.unescaped(*span), span.0))
                .collect();
            names.sort();
            // The first few were compared when they came.
            let compared = self.open[mark + FEW].0;
            for pair in names.windows(2) {
                if pair[0].0 == pair[1].0 && pair[1].1 >= compared {
                    self.repeated.push(pair[1].1);
                }
            }
        }
        self.open.truncate(mark);
    }

    fn lone_surrogate(&mut self, offset: usize) -> Result<(), Error> {
        self.lone_surrogate.get_or_insert(offset);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::document;

    fn repeated(text: &str) -> Vec<usize> {
        let mut names = Names::new(text.as_bytes());
        assert!(document(text.as_bytes(), 256, &mut names).is_ok());
        names.repeated
    }

    #[test]
    fn names_are_compared_after_unescaping_and_only_with_siblings() {
        assert_eq!(repeated(r#"{"a":1,"a":2}"#), [8]);
        assert_eq!(repeated(r#"{"a":1,"\u0061":2}"#), [8]);
        assert_eq!(repeated(r#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#), [] as [usize; 0]);
        assert_eq!(repeated(r#"[{"x":1,"y":{"z":0},"x":2}]"#), [21]);
    }

    #[test]
    fn a_large_object_is_not_compared_pair_by_pair() {
        let members: Vec<_> = (0..100_000).map(|index| format!("\"k{index}\":0")).collect();
        assert_eq!(repeated(&format!("{{{}}}", members.join(","))).len(), 0);
        assert_eq!(repeated(&format!("{{{},\"k7\":1}}", members.join(","))).len(), 1);
        assert_eq!(repeated(&format!("{{\"k0\":1,{}}}", members.join(","))).len(), 1);
    }

    #[test]
    fn a_repeated_name_is_told_once_whatever_the_size_of_its_object() {
        for count in 1..40 {
            let members: Vec<_> = (0..count).map(|index| format!("\"k{index}\":0")).collect();
            let members = members.join(",");
            let text = format!("{{{members},{members}}}");
            let mut seen = repeated(&text);
            seen.sort_unstable();
            assert_eq!(seen.len(), count, "{text}");
            seen.dedup();
            assert_eq!(seen.len(), count, "{text}");
        }
    }

    #[test]
    fn many_repeated_names_within_many_others_cost_no_more_than_their_number() {
        // Compared one by one with all that were found before, these would take minutes.
        let inner = r#"{"a":0,"a":0}"#;
        let members: Vec<_> = (0..100_000)
            .map(|index| format!("\"k{}\":{inner}", index / 2))
            .collect();
        assert_eq!(repeated(&format!("{{{}}}", members.join(","))).len(), 150_000);
    }
}
