//! How far a schema unfolds when its references are followed, counted without unfolding it.
//!
//! Twenty-eight definitions that each refer twice to the next one are two kilobytes, and a quarter of a billion schemas
//! once they are followed. Recursion is no such thing: it takes a step into the value each time, so the value ends it.

use std::collections::HashMap;

use referencing::{Draft, Error, Registry, Resolver};
use serde_json::{Map, Value};

use super::flat;

/// What following the references of a schema comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unfolded {
    /// Schemas that are reached.
    pub schemas: usize,
    /// The most references that lead from one to the next.
    pub deep: u64,
    /// References followed from the root, each cut where it leads back into a schema that it came from.
    pub references: u64,
    /// The most schemas that are applied to one and the same value.
    pub here: u64,
    /// The longest chain of schemas within schemas that are applied to one and the same value.
    pub chain: u64,
    /// A reference leads back to itself without a step into the value: it would never end.
    pub endless: bool,
}

/// From one schema to another.
struct Edge {
    to: usize,
    /// It is applied to a part of the value, not to the value itself.
    step: bool,
    reference: bool,
    /// Which schema is meant shows only when a value is looked at; this is one of those that may be.
    dynamic: bool,
}

/// A schema that was found and not looked into yet, with what resolves the references in it.
struct Found<'v> {
    schema: &'v Value,
    resolver: Resolver<'v>,
    draft: Draft,
}

struct Graph<'v> {
    known: HashMap<usize, usize>,
    found: Vec<Found<'v>>,
    edges: Vec<Vec<Edge>>,
    /// The schemas that a `$dynamicRef` or `$recursiveRef` may turn out to mean, by name.
    dynamic: HashMap<&'v str, Vec<usize>>,
}

/// Counts what a schema unfolds to.
///
/// # Errors
/// A reference that leads nowhere, or out of the document.
pub fn measure(schema: &Value, draft: Draft) -> Result<Unfolded, Error> {
    flat::measure(schema, draft).map_or_else(|| follow(schema, draft), Ok)
}

/// The same for a schema with references.
pub(super) fn follow(schema: &Value, draft: Draft) -> Result<Unfolded, Error> {
    let root = draft.create_resource_ref(schema);
    let base = root.id().unwrap_or("json-schema:///").trim_end_matches('#').to_owned();
    let registry = Registry::new().draft(draft).add(&base, root)?.prepare()?;
    let resolver = registry.resolver(referencing::uri::from_str(&base)?);
    let mut graph = Graph {
        known: HashMap::new(),
        found: Vec::new(),
        edges: Vec::new(),
        dynamic: HashMap::new(),
    };
    graph.node(schema, &resolver, draft);
    if mentions_dynamic(schema) {
        graph.anchors(schema, &resolver, draft);
    }
    let mut next = 0;
    while next < graph.found.len() {
        graph.look_into(next)?;
        next += 1;
    }
    Ok(graph.count())
}

impl<'v> Graph<'v> {
    fn node(&mut self, schema: &'v Value, resolver: &Resolver<'v>, draft: Draft) -> usize {
        let fresh = self.found.len();
        let index = *self.known.entry(std::ptr::from_ref(schema).addr()).or_insert(fresh);
        if index == fresh {
            self.found.push(Found {
                schema,
                resolver: resolver.clone(),
                draft,
            });
            self.edges.push(Vec::new());
        }
        index
    }

    /// Lists what dynamic references may mean. A tree has a bounded depth, so it may recurse.
    fn anchors(&mut self, schema: &'v Value, resolver: &Resolver<'v>, draft: Draft) {
        match schema {
            Value::Object(members) => {
                let named = members.get("$dynamicAnchor").and_then(Value::as_str);
                let recursive = members.get("$recursiveAnchor") == Some(&Value::Bool(true));
                for name in named.into_iter().chain(recursive.then_some("")) {
                    let index = self.node(schema, resolver, draft);
                    self.dynamic.entry(name).or_default().push(index);
                }
                for value in members.values() {
                    // What only looks like a resource (an example, a default) has no reference that anybody follows.
                    let (resolver, draft) = enter(value, resolver, draft).unwrap_or((resolver.clone(), draft));
                    self.anchors(value, &resolver, draft);
                }
            }
            Value::Array(elements) => {
                for value in elements {
                    let (resolver, draft) = enter(value, resolver, draft).unwrap_or((resolver.clone(), draft));
                    self.anchors(value, &resolver, draft);
                }
            }
            _ => {}
        }
    }

    fn look_into(&mut self, index: usize) -> Result<(), Error> {
        let Found { schema, draft, .. } = self.found[index];
        let resolver = self.found[index].resolver.clone();
        let Value::Object(members) = schema else {
            return Ok(());
        };
        // Up to draft-07 a reference stands alone, whatever stands beside it.
        let alone = draft < Draft::Draft201909 && members.contains_key("$ref");
        for (keyword, value) in members {
            if alone && keyword != "$ref" || !draft.is_known_keyword(keyword) {
                continue;
            }
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                    self.follow(index, keyword, target, &resolver)?;
                }
                _ => {
                    for (step, child) in children(keyword, value) {
                        let (resolver, draft) = enter(child, &resolver, draft)?;
                        let to = self.node(child, &resolver, draft);
                        self.edges[index].push(Edge {
                            to,
                            step,
                            reference: false,
                            dynamic: false,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn follow(&mut self, from: usize, keyword: &str, target: &str, resolver: &Resolver<'v>) -> Result<(), Error> {
        let (contents, resolver, draft) = resolver.lookup(target)?.into_inner();
        let to = self.node(contents, &resolver, draft);
        let mut targets = vec![(to, false)];
        if keyword != "$ref" {
            let name = if keyword == "$dynamicRef" {
                target.rsplit_once('#').map_or("", |(_, name)| name)
            } else {
                ""
            };
            targets.extend(self.dynamic.get(name).into_iter().flatten().map(|to| (*to, true)));
        }
        self.edges[from].extend(targets.into_iter().map(|(to, dynamic)| Edge {
            to,
            step: false,
            reference: true,
            dynamic: dynamic || keyword != "$ref",
        }));
        Ok(())
    }

    fn count(&self) -> Unfolded {
        let endless = self.walk(|edge| !edge.step && !edge.dynamic, |_, _, _| {});
        let mut here = vec![(1_u64, 1_u64); self.edges.len()];
        self.walk(
            |edge| !edge.step,
            |from, edge, cut| {
                let (count, chain) = if cut { (0, 0) } else { here[edge.to] };
                here[from].0 = here[from].0.saturating_add(count);
                here[from].1 = here[from].1.max(chain + 1);
            },
        );
        let mut references = vec![(0_u64, 0_u64); self.edges.len()];
        self.walk(
            |_| true,
            |from, edge, cut| {
                let (count, deep) = if cut { (0, 0) } else { references[edge.to] };
                let one = u64::from(edge.reference);
                references[from].0 = references[from].0.saturating_add(count).saturating_add(one);
                references[from].1 = references[from].1.max(deep + one);
            },
        );
        Unfolded {
            schemas: self.edges.len(),
            deep: references[0].1,
            references: references[0].0,
            here: here.iter().map(|(count, _)| *count).max().unwrap_or(1),
            chain: here.iter().map(|(_, chain)| *chain).max().unwrap_or(1),
            endless,
        }
    }

    /// Goes depth first along the edges that count, from every schema, and tells each edge once the schema it leads to
    /// is done, or that it is cut since it leads back into an open one. Says whether one was cut.
    fn walk(&self, counts: impl Fn(&Edge) -> bool, mut tell: impl FnMut(usize, &Edge, bool)) -> bool {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            Fresh,
            Open,
            Done,
        }
        let mut states = vec![State::Fresh; self.edges.len()];
        let mut back = false;
        let mut stack = Vec::new();
        for start in 0..self.edges.len() {
            if states[start] == State::Fresh {
                states[start] = State::Open;
                stack.push((start, 0));
            }
            while let Some((node, position)) = stack.last_mut() {
                let (from, Some(edge)) = (*node, self.edges[*node].get(*position)) else {
                    states[*node] = State::Done;
                    stack.pop();
                    continue;
                };
                if counts(edge) && states[edge.to] == State::Fresh {
                    states[edge.to] = State::Open;
                    stack.push((edge.to, 0));
                    continue;
                }
                *position += 1;
                if counts(edge) {
                    let open = states[edge.to] == State::Open;
                    back |= open;
                    tell(from, edge, open);
                }
            }
        }
        back
    }
}

fn mentions_dynamic(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.contains_key("$dynamicRef")
                || members.contains_key("$recursiveRef")
                || members.values().any(mentions_dynamic)
        }
        Value::Array(elements) => elements.iter().any(mentions_dynamic),
        _ => false,
    }
}

/// The resolver and draft inside of a schema, which may be a resource of its own.
fn enter<'v>(schema: &'v Value, resolver: &Resolver<'v>, draft: Draft) -> Result<(Resolver<'v>, Draft), Error> {
    let draft = draft.detect(schema);
    Ok((resolver.in_subresource(draft.create_resource_ref(schema))?, draft))
}

/// The schemas within a keyword, each with whether it is applied to a part of the value.
pub(super) fn children<'v>(keyword: &str, value: &'v Value) -> Vec<(bool, &'v Value)> {
    let of_map = |step, map: &'v Map<String, Value>| map.values().map(|schema| (step, schema)).collect();
    match (keyword, value) {
        ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter().map(|schema| (false, schema)).collect(),
        ("prefixItems" | "items", Value::Array(schemas)) => schemas.iter().map(|schema| (true, schema)).collect(),
        ("dependentSchemas" | "dependencies", Value::Object(map)) => of_map(false, map),
        ("properties" | "patternProperties", Value::Object(map)) => of_map(true, map),
        ("not" | "if" | "then" | "else", schema) => vec![(false, schema)],
        (
            "additionalItems"
            | "additionalProperties"
            | "contains"
            | "items"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            schema,
        ) => vec![(true, schema)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
