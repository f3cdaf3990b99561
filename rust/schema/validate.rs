//! A value against a compiled schema: whether it fits, at a cost that has a bound, and if not, why.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::compile::Compiled;
use super::explain::{self, Problem};
use super::instance::Instance;
use super::tree::Tree;
use crate::error::Error;
use crate::limits::{EXPLAINED, FRAME_STACK, FRAMES, INSTANCE, LOOKS, LOOKS_ALL, LOOKS_EACH};

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

impl Compiled {
    /// Looks at a whole text. `allowance` bounds the looks at its values; without one, what such a value may cost.
    ///
    /// # Errors
    /// The text is not I-JSON, too deep or too long.
    pub fn judge(&self, text: &[u8], allowance: Option<u64>) -> Result<Verdict, Error> {
        let tree = Tree::parse(text, INSTANCE)?;
        let allowance = allowance.unwrap_or_else(|| {
            let each = LOOKS_EACH.saturating_mul(tree.entries.len() as u64);
            LOOKS.saturating_add(each).min(LOOKS_ALL)
        });
        let frames = (tree.depth + 1).saturating_mul(self.chain);
        if frames <= FRAMES {
            return Ok(self.look(&tree, allowance));
        }
        // The validator recurses, and nobody knows how much of this stack is left.
        let stack = frames.saturating_mul(FRAME_STACK);
        Ok(thread::scope(|scope| {
            let worker = thread::Builder::new().stack_size(stack);
            match worker
                .spawn_scoped(scope, || self.look(&tree, allowance))
                .map(thread::ScopedJoinHandle::join)
            {
                Ok(Ok(verdict)) => verdict,
                _ => Verdict::Undecided,
            }
        }))
    }

    fn look(&self, tree: &Tree<'_>, allowance: u64) -> Verdict {
        // The crate holds many an expectation about schemas and values that others write.
        catch_unwind(AssertUnwindSafe(|| {
            let instance = Instance::new(tree, allowance, self.backtracks);
            let fits = self.validator.is_valid(instance.root());
            match (instance.is_spent(), fits) {
                (true, _) => Verdict::Undecided,
                (false, true) => Verdict::Fits,
                (false, false) => Verdict::Misfits(self.explain(tree, instance.spent(allowance))),
            }
        }))
        .unwrap_or(Verdict::Undecided)
    }

    /// All that is wrong, or the first thing where all of it is too much. `spent` is what it took to see that it is.
    fn explain(&self, tree: &Tree<'_>, spent: u64) -> Vec<Problem> {
        let instance = Instance::new(tree, EXPLAINED, self.backtracks);
        let errors: Vec<_> = self.validator.iter_errors(instance.root()).collect();
        if !instance.is_spent() {
            return explain::problems(tree, &errors);
        }
        drop(errors);
        let instance = Instance::new(tree, EXPLAINED.saturating_add(4 * spent), self.backtracks);
        let first = self.validator.validate(instance.root()).err();
        let first = first.filter(|_| !instance.is_spent());
        first.map_or_else(Vec::new, |error| explain::problems(tree, [&error]))
    }
}

#[cfg(test)]
mod tests;
