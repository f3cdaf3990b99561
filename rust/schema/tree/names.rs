//! The member names of a tree's objects: told apart once, found many times.

use super::{Entry, Tree, What};
use crate::json::text::unescape;

/// Members in one object that are compared pair by pair and found by looking at each; above, they are sorted.
const FEW: usize = 16;

impl Tree<'_> {
    /// The first name entry of an object that repeats another; the names of a large one are sorted for `member`.
    pub(super) fn repeated(&mut self, object: u32) -> Option<u32> {
        match self.entries[object as usize].count as usize {
            0 | 1 => None,
            ..=FEW => self.repeated_of_few(object),
            _ => self.repeated_of_many(object),
        }
    }

    fn repeated_of_few(&self, object: u32) -> Option<u32> {
        let mut before = [0; FEW];
        for (count, name) in self.names(object).take(FEW).enumerate() {
            if before[..count].iter().any(|other| self.same_string(name, *other)) {
                return Some(name);
            }
            before[count] = name;
        }
        None
    }

    fn repeated_of_many(&mut self, object: u32) -> Option<u32> {
        let mut named: Vec<_> = self.names(object).map(|name| (self.characters(name), name)).collect();
        named.sort_unstable();
        let repeated = named
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[1].1)
            .min();
        let sorted = named.into_iter().map(|(_, name)| name).collect();
        self.sorted.push((object, sorted));
        repeated
    }

    /// Are the strings at these indices the same characters?
    #[must_use]
    pub fn same_string(&self, left: u32, right: u32) -> bool {
        let (left, right) = (&self.entries[left as usize], &self.entries[right as usize]);
        let bytes = |entry: &Entry| &self.text.as_bytes()[entry.start as usize..entry.end as usize];
        let plain = What::String { escaped: false };
        if left.what == plain && right.what == plain {
            return left.end - left.start == right.end - right.start && bytes(left) == bytes(right);
        }
        unescape(bytes(left)) == unescape(bytes(right))
    }

    /// The value of the member of this name of the object at an index.
    #[must_use]
    pub fn member(&self, object: u32, name: &str) -> Option<u32> {
        if self.entries[object as usize].count as usize > FEW {
            let place = self.sorted.binary_search_by_key(&object, |(object, _)| *object).ok()?;
            let sorted = &self.sorted[place].1;
            let found = sorted.binary_search_by(|index| self.characters(*index).as_ref().cmp(name));
            return found.ok().map(|position| sorted[position] + 1);
        }
        self.names(object)
            .find(|index| self.is_called(*index, name))
            .map(|index| index + 1)
    }

    /// Is the string at an index this one?
    #[must_use]
    pub fn is_called(&self, index: u32, name: &str) -> bool {
        let entry = &self.entries[index as usize];
        match entry.what {
            What::String { escaped: false } => {
                self.text.as_bytes()[entry.start as usize..entry.end as usize] == *name.as_bytes()
            }
            _ => self.characters(index) == name,
        }
    }
}
