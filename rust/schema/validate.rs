//! A value against a compiled schema: whether it fits, at a cost that has a bound, and if not, why.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use super::compile::Compiled;
use super::explain::{self, Problem};
use super::instance::Instance;
use super::tree::Tree;
use crate::error::Error;
use crate::limits::{
    BACKTRACK_TIME, EXPLAINED, FRAME_STACK, FRAMES, GLANCE, GLANCE_TIME, INSTANCE, LOOKS, LOOKS_ALL, LOOKS_EACH,
};

/// What came of looking at a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Fits,
    /// It does not, for at least one reason.
    Misfits(Vec<Problem>),
    /// The allowance was spent before it was known.
    Undecided,
}

/// What a model reads where a value is too costly to check.
pub const TOO_COSTLY: &str = "checking it against its schema takes too long";

/// What may be spent on one look, and on finding out all that is wrong.
#[derive(Debug, Clone, Copy)]
struct Allowance {
    looks: u64,
    explained: u64,
    time: Duration,
}

const SHORT: Allowance = Allowance {
    looks: GLANCE,
    explained: EXPLAINED / 10,
    time: GLANCE_TIME,
};

impl Compiled {
    /// Looks at a whole text, however long it takes within the bounds.
    ///
    /// # Errors
    /// The text is not I-JSON, too deep or too long.
    pub fn judge(&self, text: &[u8]) -> Result<Verdict, Error> {
        let tree = Tree::parse(text, INSTANCE)?;
        let each = LOOKS_EACH.saturating_mul(tree.entries.len() as u64);
        let allowance = Allowance {
            looks: LOOKS.saturating_add(each).min(LOOKS_ALL),
            explained: EXPLAINED,
            time: BACKTRACK_TIME,
        };
        let look = || {
            self.look(&tree, allowance, |spent| {
                let first = EXPLAINED.saturating_add(spent.saturating_mul(4));
                let found = self.all(&tree, allowance).or_else(|| self.first(&tree, first));
                Some(found.unwrap_or_default())
            })
        };
        Ok(self.on_enough_stack(&tree, look))
    }

    /// The same as far as it takes a moment, else `Undecided`.
    ///
    /// # Errors
    /// The text is not I-JSON, too deep or too long.
    pub fn glance(&self, text: &[u8]) -> Result<Verdict, Error> {
        let tree = Tree::parse(text, INSTANCE)?;
        let look = || self.look(&tree, SHORT, |_| self.all(&tree, SHORT));
        Ok(self.on_enough_stack(&tree, look))
    }

    /// The validator recurses, and nobody knows how much of this stack is left.
    fn on_enough_stack(&self, tree: &Tree<'_>, look: impl FnOnce() -> Verdict + Send) -> Verdict {
        let frames = (tree.depth + 1).saturating_mul(self.chain);
        if frames <= FRAMES {
            return look();
        }
        thread::scope(|scope| {
            let worker = thread::Builder::new().stack_size(frames.saturating_mul(FRAME_STACK));
            match worker.spawn_scoped(scope, look).map(thread::ScopedJoinHandle::join) {
                Ok(Ok(verdict)) => verdict,
                _ => Verdict::Undecided,
            }
        })
    }

    /// `explain` is told what it took to see that the value does not fit; it gives `None` where it takes too long.
    fn look(
        &self,
        tree: &Tree<'_>,
        allowance: Allowance,
        explain: impl FnOnce(u64) -> Option<Vec<Problem>>,
    ) -> Verdict {
        // The crate holds many an expectation about schemas and values that others write.
        catch_unwind(AssertUnwindSafe(|| {
            let instance = self.instance(tree, allowance.looks, allowance.time);
            let fits = self.validator.is_valid(instance.root());
            match (instance.is_spent(), fits) {
                (true, _) => Verdict::Undecided,
                (false, true) => Verdict::Fits,
                (false, false) => explain(instance.spent(allowance.looks)).map_or(Verdict::Undecided, Verdict::Misfits),
            }
        }))
        .unwrap_or(Verdict::Undecided)
    }

    fn instance<'t>(&self, tree: &'t Tree<'t>, looks: u64, time: Duration) -> Instance<'t> {
        Instance::new(tree, looks, self.backtracks.then_some(time))
    }

    /// All that is wrong, unless that is too much.
    fn all(&self, tree: &Tree<'_>, allowance: Allowance) -> Option<Vec<Problem>> {
        let instance = self.instance(tree, allowance.explained, allowance.time);
        let errors: Vec<_> = self.validator.iter_errors(instance.root()).collect();
        (!instance.is_spent()).then(|| explain::problems(tree, &errors))
    }

    /// The first thing that is wrong.
    fn first(&self, tree: &Tree<'_>, looks: u64) -> Option<Vec<Problem>> {
        let instance = self.instance(tree, looks, BACKTRACK_TIME);
        let error = self.validator.validate(instance.root()).err();
        error
            .filter(|_| !instance.is_spent())
            .map(|error| explain::problems(tree, [&error]))
    }
}

#[cfg(test)]
mod tests;
