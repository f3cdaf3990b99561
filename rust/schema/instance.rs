//! One look at a document, and what may still be spent on it.
//!
//! Whatever a schema makes the validator do, it does through the accessors of `view`, and each costs something. Once the
//! allowance is spent they show nothing more, so that every loop of the validator ends soon; what it says then counts
//! for nothing.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::tree::Tree;
use super::view::View;

/// A tree and the allowance for looking at it.
pub struct Instance<'a> {
    pub tree: &'a Tree<'a>,
    left: Cell<u64>,
    /// Until when it may be looked at, where the schema has patterns whose cost nobody can count.
    until: Option<Instant>,
}

impl<'a> Instance<'a> {
    #[must_use]
    pub fn new(tree: &'a Tree<'a>, allowance: u64, time: Option<Duration>) -> Self {
        Self {
            tree,
            left: Cell::new(allowance),
            until: time.map(|time| Instant::now() + time),
        }
    }

    /// Are there patterns whose cost nobody can count?
    #[must_use]
    pub fn backtracks(&self) -> bool {
        self.until.is_some()
    }

    #[must_use]
    pub fn root(&self) -> View<'_> {
        View::Entry(self, 0)
    }

    /// What was spent of an allowance.
    #[must_use]
    pub fn spent(&self, allowance: u64) -> u64 {
        allowance - self.left.get()
    }

    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Spends what a look costs; false once there is nothing left.
    #[inline]
    pub fn spend(&self, cost: u64) -> bool {
        let left = self.left.get().saturating_sub(cost);
        self.left.set(left);
        left > 0
    }

    /// A look at characters: a pattern may be tried on them.
    #[inline]
    pub fn spend_on_text(&self, length: usize) -> bool {
        if self.until.is_some_and(|until| Instant::now() > until) {
            self.left.set(0);
        }
        self.spend(1 + length as u64 / 16)
    }
}
