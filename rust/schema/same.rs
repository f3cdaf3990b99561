//! Equality as JSON Schema has it (`const`, `enum`, `uniqueItems`): numbers by their value, `true` is not 1, members
//! whatever their order.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;

use super::decimal;
use super::instance::Instance;
use super::tree::{Tree, What};
use crate::json::number;

/// Elements that are compared pair by pair; above, they are sorted by hash.
const FEW: usize = 16;

/// Is the entry the value that a schema spells?
#[must_use]
pub fn equals(instance: &Instance<'_>, index: u32, expected: &Value) -> bool {
    let tree = instance.tree;
    let entry = &tree.entries[index as usize];
    if !instance.spend(1) {
        return false;
    }
    match (entry.what, expected) {
        (What::Null, Value::Null) => true,
        (What::Bool(value), Value::Bool(expected)) => value == *expected,
        (What::Number, Value::Number(expected)) => {
            number::equal(tree.slice(entry).as_bytes(), expected.as_str().as_bytes())
        }
        (What::String { .. }, Value::String(expected)) => tree.is_called(index, expected),
        (What::Array, Value::Array(expected)) => {
            entry.count as usize == expected.len()
                && tree
                    .elements(index)
                    .zip(expected)
                    .all(|(at, expected)| equals(instance, at, expected))
        }
        (What::Object, Value::Object(expected)) => {
            entry.count as usize == expected.len()
                && expected.iter().all(|(name, expected)| {
                    tree.member(index, name)
                        .is_some_and(|at| equals(instance, at, expected))
                })
        }
        _ => false,
    }
}

/// Does each element of the array differ from every other?
#[must_use]
pub fn all_differ(instance: &Instance<'_>, array: u32) -> bool {
    let tree = instance.tree;
    let entry = &tree.entries[array as usize];
    if !instance.spend(u64::from(entry.next - array)) {
        return true;
    }
    let elements: Vec<u32> = tree.elements(array).collect();
    if elements.len() <= FEW {
        return elements
            .iter()
            .enumerate()
            .all(|(position, left)| elements[..position].iter().all(|right| !same(tree, *left, *right)));
    }
    let state = RandomState::new();
    let mut hashed: Vec<_> = elements
        .iter()
        .map(|index| (hash(tree, *index, &state), *index))
        .collect();
    hashed.sort_unstable();
    // Equal elements have equal hashes, and hardly any others do.
    hashed
        .chunk_by(|left, right| left.0 == right.0)
        .all(|alike| alike.iter().skip(1).all(|right| !same(tree, alike[0].1, right.1)))
}

fn same(tree: &Tree<'_>, left: u32, right: u32) -> bool {
    let (first, second) = (&tree.entries[left as usize], &tree.entries[right as usize]);
    match (first.what, second.what) {
        (What::Number, What::Number) => number::equal(tree.slice(first).as_bytes(), tree.slice(second).as_bytes()),
        (What::String { .. }, What::String { .. }) => tree.same_string(left, right),
        (What::Array, What::Array) => {
            first.count == second.count
                && tree
                    .elements(left)
                    .zip(tree.elements(right))
                    .all(|(left, right)| same(tree, left, right))
        }
        (What::Object, What::Object) => {
            first.count == second.count
                && tree.names(left).all(|name| {
                    tree.member(right, &tree.characters(name))
                        .is_some_and(|value| same(tree, name + 1, value))
                })
        }
        (first, second) => first == second,
    }
}

fn hash(tree: &Tree<'_>, index: u32, state: &RandomState) -> u64 {
    let entry = &tree.entries[index as usize];
    let mut hasher = state.build_hasher();
    match entry.what {
        What::Number => decimal::hash(tree.slice(entry), &mut hasher),
        What::String { .. } => tree.characters(index).hash(&mut hasher),
        What::Array => tree
            .elements(index)
            .for_each(|at| hasher.write_u64(hash(tree, at, state))),
        What::Object => {
            // The sum does not depend on the order.
            let member = |name| hash(tree, name, state).rotate_left(1) ^ hash(tree, name + 1, state);
            let sum = tree
                .names(index)
                .map(|name| state.hash_one(member(name)))
                .fold(0, u64::wrapping_add);
            hasher.write_u64(sum);
        }
        What::Bool(value) => value.hash(&mut hasher),
        What::Null => {}
    }
    hasher.finish()
}
