"""The exception tree: what catches what, what each reads, and that an error survives a copy and a process border."""

import copy
import pickle
from collections.abc import Callable
from typing import TypeVar

import pytest

import toolwire
from toolwire import (
    ConnectError,
    InvalidToolInput,
    ListedToolError,
    RemoteCallError,
    SchemaError,
    SkippedTool,
    ToolError,
    ToolFailure,
    ToolImportError,
    ToolReturnedError,
    ToolwireError,
    _core,
)
from toolwire.contract.remote_output import RemoteOutput

Failure = TypeVar("Failure", bound=BaseException)


def pickled(value: Failure) -> Failure:
    other: Failure = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes
    return other


COPIES: list[Callable[[Failure], Failure]] = [copy.copy, copy.deepcopy, pickled]


def skipped(name: str, index: int, error: ToolwireError) -> SkippedTool:
    return SkippedTool(name, index, error)


ROOT = SchemaError('toolwire: ParseSchema: top-level type must be "object", got ""')
TWO = [
    skipped("", 0, ListedToolError("empty name")),
    skipped("search", 2, ListedToolError('duplicate name "search" in the listing')),
]


def test_the_tree_is_the_one_that_the_module_draws() -> None:
    assert {kind.__name__: kind.__bases__[0].__name__ for kind in (ToolError, ToolFailure, RemoteCallError)} == {
        "ToolError": "ToolwireError",
        "ToolFailure": "ToolError",
        "RemoteCallError": "ToolError",
    }
    others = (ConnectError, SchemaError, InvalidToolInput, ToolReturnedError, ListedToolError, ToolImportError)
    assert all(issubclass(kind, ToolwireError) and not issubclass(kind, ToolError) for kind in others)
    assert issubclass(ToolImportError, ExceptionGroup)
    drawn = toolwire.errors.__doc__ or ""
    assert all(kind.__name__ in drawn for kind in (ToolwireError, ToolError, ToolFailure, RemoteCallError, *others))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolError("NOT_FOUND", "no such order"), "NOT_FOUND: no such order"),
        (ToolError("NOT_FOUND"), "NOT_FOUND"),
        (ToolFailure("rate limited: try again in 30s"), "rate limited: try again in 30s"),
        (RemoteCallError("connection closed"), "mcp: connection closed"),
        (ToolReturnedError(), "mcp: tool returned an error"),
        (InvalidToolInput(), "toolwire: tool input is not valid for its schema"),
    ],
)
def test_an_error_reads_as_the_spec_pins_it(error: ToolwireError, text: str) -> None:
    assert str(error) == text


def test_a_cause_is_an_attribute_and_never_the_exception_chain() -> None:
    cause = ValueError("inner")
    for error in (ToolError("X", cause=cause), ToolFailure("x", cause=cause), RemoteCallError("x", error=cause)):
        assert error.cause is cause
        assert error.__cause__ is None


def test_a_remote_call_may_have_run_unless_it_is_said_otherwise() -> None:
    assert RemoteCallError("x").may_have_run
    assert not RemoteCallError("x", may_have_run=False).may_have_run


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize(
    "error",
    [
        ToolError("CODE", "text", ValueError("v")),
        ToolFailure("text", kind="invalid_input", cause=InvalidToolInput()),
        ToolFailure("text", remote=True, cause=ToolReturnedError()),
        RemoteCallError(
            "x",
            may_have_run=False,
            code=-32602,
            data=b'{"a":1}',
            raw=b"raw",
            status=429,
            retry_after=7.0,
            error=OSError(5),
        ),
        ConnectError("no", exit_code=3, stderr=b"segv", noise=(b"a", b"b")),
        ROOT,
        InvalidToolInput(),
        ToolReturnedError(),
        ListedToolError("empty name"),
        ToolImportError(TWO),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_copy_of_an_error_says_the_same(
    error: ToolwireError, copied: Callable[[ToolwireError], ToolwireError]
) -> None:
    other = copied(error)
    assert type(other) is type(error)
    assert (str(other), repr(other)) == (str(error), repr(error))
    assert {name: repr(value) for name, value in vars(other).items()} == {
        name: repr(value) for name, value in vars(error).items()
    }


def test_a_failure_takes_its_output_across_a_process_border() -> None:
    result = b'{"content":[{"type":"text","text":"quota"}],"isError":true,"structuredContent":{"retry":1.50}}'
    other = pickled(ToolFailure("quota", output=RemoteOutput(_core.read_result(result)), remote=True))
    assert (other.output.raw, other.output.structured, other.remote) == (result, b'{"retry":1.50}', True)


def kinds(root: type[ToolwireError]) -> set[type[ToolwireError]]:
    # Other tests have kinds of their own, made to be broken.
    ours = [kind for kind in root.__subclasses__() if kind.__module__.startswith("toolwire.")]
    return {root}.union(*map(kinds, ours))


@pytest.mark.parametrize("copied", COPIES)
def test_every_kind_of_error_survives_a_copy_with_its_text(copied: Callable[[ToolwireError], ToolwireError]) -> None:
    for kind in kinds(ToolwireError) - {ToolImportError}:
        error = kind.__new__(kind, f"the text of a {kind.__name__}")
        error.note = [1]  # type: ignore[attr-defined]  # whatever stands on it
        other = copied(error)
        assert (type(other), str(other), vars(other)) == (kind, str(error), {"note": [1]})
    refused = copied(toolwire.AuthorizationError("pay"))
    assert str(refused) == 'toolwire: authorization for "pay" failed'
    failed = copied(toolwire.RunError(2, ValueError("why"), None))
    assert isinstance(failed, toolwire.RunError)
    assert (str(failed), failed.step) == ("toolwire: run failed at step 2: why", 2)


# The report of an import: spec 1.7


def test_c21_one_skipped_tool_reads_exactly() -> None:
    text = (
        'mcp: 1 tool(s) not imported: "nullable_root": toolwire: ParseSchema: top-level type must be "object", got ""'
    )
    assert str(ToolImportError([skipped("nullable_root", 2, ROOT)])) == text


def test_c22_two_skipped_tools_read_exactly() -> None:
    assert str(ToolImportError(TWO)) == (
        'mcp: 2 tool(s) not imported: entry 0: empty name; "search": duplicate name "search" in the listing'
    )


def test_only_the_last_semicolon_is_taken_off_a_report() -> None:
    assert str(ToolImportError([skipped("x", 0, ListedToolError("ends in one;"))])).endswith("ends in one;")


def test_c23_the_causes_are_reachable_in_order() -> None:
    group = ToolImportError([*TWO, skipped("nullable_root", 3, ROOT)])
    assert group.exceptions == (TWO[0].error, TWO[1].error, ROOT)
    assert [record.index for record in group.skipped] == [0, 2, 3]
    assert group.subgroup(SchemaError) is not None


def test_a_report_splits_and_each_part_keeps_its_records() -> None:
    group = ToolImportError([*TWO, skipped("nullable_root", 3, ROOT)])
    schemas, others = group.split(SchemaError)
    assert isinstance(schemas, ToolImportError)
    assert isinstance(others, ToolImportError)
    assert [record.name for record in schemas.skipped] == ["nullable_root"]
    assert str(schemas).startswith('mcp: 1 tool(s) not imported: "nullable_root"')
    assert others.skipped == tuple(TWO)
    nothing, everything = group.split(OSError)
    assert nothing is None
    assert isinstance(everything, ToolImportError)
    assert everything.skipped == group.skipped


def test_except_star_takes_a_kind_and_lets_the_others_go_on() -> None:
    taken: list[BaseException] = []

    def take_the_schemas() -> None:
        try:
            raise ToolImportError([*TWO, skipped("nullable_root", 3, ROOT)])
        except* SchemaError as group:
            taken.extend(group.exceptions)

    with pytest.raises(ToolImportError) as left:
        take_the_schemas()
    assert taken == [ROOT]
    assert left.value.skipped == tuple(TWO)


@pytest.mark.parametrize("name", ["name", "index", "error"])
def test_a_record_of_a_skipped_tool_is_immutable(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(TWO[0], name, "x")
    assert pickled(ToolImportError(TWO)).skipped[1].name == "search"
