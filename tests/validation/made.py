"""Schemas and values of the older drafts, made by a seeded generator: deeper than Hypothesis goes."""

import random
from typing import Any

NAMES = ("a", "b", "c", "ab")
PATTERNS = ("^a", "b$", "^.$", "^$", "[ab]+", "^(?!a)")
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}


class Maker:
    """Makes documents of one draft."""

    def __init__(self, seed: int, draft: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - the same documents in every run
        self.draft = draft
        self.home = "$defs" if draft >= 2019 else "definitions"

    def value(self, depth: int = 0) -> Any:
        """Make a small value; containers up to three deep."""
        match self.chance.randrange(9 if depth < 3 else 6):
            case 0:
                return None
            case 1:
                return self.chance.random() < 0.5
            case 2:
                return self.chance.randint(-3, 3)
            case 3:
                return self.chance.choice([0.5, 1.0, 2.5, -0.0, 1e3])
            case 6:
                return [self.value(depth + 1) for _ in range(self.chance.randrange(4))]
            case 7 | 8:
                return {name: self.value(depth + 1) for name in self.some(NAMES, 0, 3)}
        return self.chance.choice(["", "a", "b", "ab", "é", "😀", "2024-02-29"])

    def document(self) -> dict[str, Any]:
        """Make a schema with two definitions to which references lead."""
        definitions = {name: self.schema(1) for name in ("a", "b")}
        return {"$schema": DRAFTS[self.draft], **self.object(0), self.home: definitions}

    def schema(self, depth: int) -> Any:
        """Make a schema, `true` or `false` sometimes, and always at the bottom."""
        if self.draft == 4:
            return {} if depth > 4 else self.object(depth)
        leaf = depth > 4 or self.chance.random() < (0.1 if depth < 2 else 0.35)
        return self.chance.random() < 0.7 if leaf else self.object(depth)

    def object(self, depth: int) -> dict[str, Any]:
        """Make a schema object of up to four keywords."""
        schema: dict[str, Any] = {}
        for _ in range(self.chance.choice([1, 1, 2, 2, 3, 4])):
            schema.update(self.keyword(depth))
        return schema

    def some(self, things: tuple[str, ...], low: int, high: int) -> list[str]:
        """Pick so many of the things."""
        return self.chance.sample(things, self.chance.randint(low, high))

    def keyword(self, depth: int) -> dict[str, Any]:
        """Make one keyword that the draft has, or two that belong together."""
        below = depth + 1

        def schemas() -> list[Any]:
            return [self.schema(below) for _ in range(self.chance.randint(1, 3))]

        def named(names: tuple[str, ...] = NAMES) -> dict[str, Any]:
            return {name: self.schema(below) for name in self.some(names, 0, 3)}

        count = self.chance.randrange(4)
        bound = self.chance.choice([-2, -1, 0, 1, 2, 0.5])
        makes: dict[str, Any] = {
            "type": lambda: self.chance.choice([self.chance.choice(TYPES), self.some(TYPES, 1, 3)]),
            "enum": lambda: [self.value(1) for _ in range(2)],
            **dict.fromkeys(("minimum", "maximum"), lambda: bound),
            "multipleOf": lambda: self.chance.choice([1, 2, 0.5, 3]),
            **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), lambda: count),
            **dict.fromkeys(("minProperties", "maxProperties"), lambda: count),
            "pattern": lambda: self.chance.choice(PATTERNS),
            "uniqueItems": lambda: True,
            "required": lambda: self.some(NAMES, 1, 2),
            **dict.fromkeys(("allOf", "anyOf", "oneOf"), schemas),
            **dict.fromkeys(("not", "items", "additionalProperties"), lambda: self.schema(below)),
            "properties": named,
            "patternProperties": lambda: named(PATTERNS),
            "$ref": lambda: f"#/{self.home}/{self.chance.choice('ab')}",
        }
        if self.draft < 2019:
            makes["dependencies"] = lambda: {"a": self.chance.choice([self.some(NAMES, 1, 2), self.schema(below)])}
        else:
            makes["dependentRequired"] = lambda: {"a": self.some(NAMES, 0, 2)}
            makes["dependentSchemas"] = named
            makes |= dict.fromkeys(
                ("unevaluatedItems", "unevaluatedProperties"), lambda: self.chance.choice([False, self.schema(below)])
            )
        if self.draft >= 6:
            makes["const"] = lambda: self.value(1)
            makes |= dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), lambda: bound)
            makes |= dict.fromkeys(("contains", "propertyNames"), lambda: self.schema(below))
        if self.draft >= 7:
            makes |= dict.fromkeys(("if", "then", "else"), lambda: self.schema(below))
        keyword = self.chance.choice(sorted(makes))
        pair = {"contains": ("minContains", count), "if": ("then", None), "minimum": ("exclusiveMinimum", True)}
        made = {keyword: makes[keyword]()}
        match keyword, pair.get(keyword):
            case "contains", (str(beside), value) if self.draft >= 2019:
                made[beside] = value
            case "if", (str(beside), _):
                made[beside] = self.schema(below)
            case "minimum", (str(beside), value) if self.draft == 4:
                made[beside] = value
        return made
