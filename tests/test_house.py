"""The house rules of the design, held from the sources: who may import whom, and how large a room may grow.

These tests read text and syntax trees; apart from the last group they need no working package.
"""

import ast
import re
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "toolwire"
CRATE = ROOT / "rust"

# Which rooms a room may use besides itself: those below it, never above.
ROOMS = {
    "_core": set[str](),
    "loops": set[str](),
    "errors": {"_core"},
    "_sdk": {"_core", "errors"},
    "contract": {"loops", "_core", "errors"},
    "agent": {"loops", "_core", "errors", "contract"},
    "wire": {"loops", "_core", "errors", "_sdk"},
    "bridge": {"loops", "_core", "errors", "_sdk", "contract", "agent", "wire"},
    "adapters": {"_core", "errors", "contract", "agent", "bridge", "__init__"},
    "testing": {"_core", "errors", "contract", "agent", "wire"},
    "cli": {"_core", "errors", "contract", "agent", "wire", "bridge", "demo", "__init__"},
    "demo": {"testing", "__init__"},
    "__main__": {"cli"},
    # The door itself, for those who stand outside it. Adapters, the CLI and the testing kit load only when asked for.
    "__init__": {"_core", "errors", "contract", "agent", "wire", "bridge"},
}
# Private files beside a room that is one file.
PARTS = dict.fromkeys(
    ("_http_answers", "_http_connection", "_http_peer", "_raw_answers", "_raw_peer", "_scripted_model"), "testing"
)
SDK = {"mcp", "mcp_types"}
SDK_ROOMS = {"wire", "bridge", "_sdk", "adapters"}
# The SDK's side of the comparison that `toolwire demo` shows: a room that is no room of ours.
SDK_FILES = {"demo/sdk_alone.py", "demo/sdk_server.py"}
# `trio` is imported only where it runs already, and `opentelemetry` is the SDK's own dependency.
RUN_TIME = {"pydantic", "pydantic_core", "orjson", "anyio", "docstring_parser", "opentelemetry", "trio", "httpx2"}
# aiohttp is the extra `http`, loaded only where it is installed; `yarl` is aiohttp's own dependency.
ROOM_EXTRAS = {"cli": {"typer", "rich", "uvicorn", "granian"}, "wire": {"aiohttp", "yarl", "brotli", "backports"}}
ANY_FRAMEWORK = {"adapters"}

# The same for the crate. `limits` and `error` are the ground floor, open to all.
CRATE_ROOMS = {
    "limits": set[str](),
    "error": set[str](),
    "json": set[str](),
    "schema": {"json"},
    "wire": {"json"},
    "mcp": {"json", "schema", "wire"},
    "py": {"json", "schema", "wire", "mcp"},
    "lib": {"json", "schema", "wire", "mcp", "py"},
}
GROUND = {"limits", "error"}
FORBIDDEN_WORDS = {
    "json": re.compile(r"json_?rpc|\bmcp\b|tools/(?:list|call)", re.IGNORECASE),
    "wire": re.compile(r"\bmcp\b|tools/(?:list|call)|input_?schema", re.IGNORECASE),
}

# `toolwire.tool` is the decorator, so a module of that name would take its place once imported.
PUBLIC_FUNCTIONS = {"tool", "tools", "discover", "connect"}

LIMIT = 300
# Rooms over the limit, each with the reason why splitting it would cost the reader more.
LONG_ROOMS: dict[str, str] = {}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def crate_files() -> list[Path]:
    return sorted(CRATE.rglob("*.rs"))


def room_of(path: Path) -> str:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return PARTS.get(part, part)


def room_imported(target: str) -> str:
    """Return the room of a dotted name under toolwire; a name that is no room came through the door."""
    part = [*target.split("."), "__init__"][1]
    room = PARTS.get(part, part)
    return room if room in ROOMS else "__init__"


def crate_room_of(path: Path) -> str:
    return path.relative_to(CRATE).parts[0].removesuffix(".rs")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every import of a module, wherever it stands, relative names resolved."""
    package = ("toolwire", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node.lineno, alias.name
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package[: len(package) - level + 1] if level else ()
                base = ".".join([*above, *([module] if module else [])])
                for alias in names:
                    yield node.lineno, f"{base}.{alias.name}"
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(dynamic)), *_],
            ):
                yield node.lineno, dynamic


def code_of(path: Path) -> str:
    """Return a Rust file without comments: a doc comment may well name what the file does not know."""
    token = re.compile(r'(r(#*)".*?"\2|"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\')|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return token.sub(lambda found: found[1] or " ", path.read_text())


def used_crate_rooms(code: str) -> set[str]:
    """Return the first names of all `crate::…` paths, grouped `use crate::{a, b::c}` included."""
    single = set(re.findall(r"\bcrate::(\w+)", code))
    for start in (found.end() for found in re.finditer(r"\bcrate::\{", code)):
        depth, top = 1, []
        for letter in code[start:]:
            depth += (letter == "{") - (letter == "}")
            if depth == 0:
                break
            top.append(letter if depth == 1 else " ")
        single |= {part.strip().split("::")[0].split(" ")[0] for part in "".join(top).split(",") if part.strip()}
    return single


def test_every_module_stands_in_a_room_of_the_design() -> None:
    assert {room_of(path) for path in modules()} <= ROOMS.keys()


def test_a_room_uses_only_rooms_below_it() -> None:
    above = [
        f"{name(path)}:{line} imports {target}"
        for path in modules()
        for line, target in imported(path)
        if target.split(".")[0] == "toolwire" and room_imported(target) not in ROOMS[room_of(path)] | {room_of(path)}
    ]
    assert above == []


def test_the_sdk_is_imported_only_where_tools_meet_it() -> None:
    strays = [
        f"{name(path)}:{line} imports {target}"
        for path in modules()
        for line, target in imported(path)
        if target.split(".")[0] in SDK
        and room_of(path) not in SDK_ROOMS
        and path.relative_to(PACKAGE).as_posix() not in SDK_FILES
    ]
    assert strays == []


def test_a_framework_is_imported_only_in_its_adapter_and_typer_only_in_the_cli() -> None:
    known = {*sys.stdlib_module_names, "toolwire", *SDK, *RUN_TIME}
    strays = [
        f"{name(path)}:{line} imports {target}"
        for path in modules()
        for line, target in imported(path)
        if target.split(".")[0] not in known | ROOM_EXTRAS.get(room_of(path), set())
        and room_of(path) not in ANY_FRAMEWORK
    ]
    assert strays == []


def private(word: str) -> bool:
    return word.startswith("_") and not word.endswith("__")


def test_a_private_module_of_the_sdk_is_imported_only_in_the_sdk_file() -> None:
    strays = [
        f"{name(path)}:{line} imports {target}"
        for path in modules()
        for line, target in imported(path)
        if target.split(".")[0] in SDK and any(map(private, target.split("."))) and room_of(path) != "_sdk"
    ]
    assert strays == []


def test_a_private_attribute_of_a_foreign_object_is_touched_only_in_the_sdk_file() -> None:
    """An attribute is foreign if nothing in the same file defines its name; getattr with a literal counts."""
    strays = []
    for path in modules():
        if room_of(path) == "_sdk":
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(), str(path))))
        own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
        own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        touched = []
        for node in nodes:
            match node:
                case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attribute):
                    own.add(attribute)
                case ast.Attribute(value=ast.Name(id=module)) if module in sys.stdlib_module_names:
                    pass  # `os._exit` is documented under that name
                case ast.Attribute(attr=attribute, lineno=line) if private(attribute):
                    touched.append((line, attribute))
                case ast.Call(
                    func=ast.Name(id="getattr" | "setattr" | "hasattr" | "attrgetter")
                    | ast.Attribute(attr="attrgetter"),
                    args=[*_, ast.Constant(value=str(attribute))] | [_, ast.Constant(value=str(attribute)), *_],
                    lineno=line,
                ) if private(attribute):
                    touched.append((line, attribute))
        strays += [f"{name(path)}:{line} touches {attribute}" for line, attribute in touched if attribute not in own]
    assert strays == []


def test_no_module_bears_the_name_of_a_public_function() -> None:
    stems = {path: path.parent.name if path.stem == "__init__" else path.stem for path in modules()}
    assert [name(path) for path, stem in stems.items() if stem in PUBLIC_FUNCTIONS] == []


def test_the_package_door_holds_imports_and_all_and_nothing_else() -> None:
    docstring, *body = ast.parse((PACKAGE / "__init__.py").read_text()).body
    assert isinstance(docstring, ast.Expr)
    assert isinstance(docstring.value, ast.Constant)
    *imports, exported = body
    assert all(isinstance(statement, ast.Import | ast.ImportFrom) for statement in imports)
    assert isinstance(exported, ast.Assign)
    assert [ast.unparse(target) for target in exported.targets] == ["__all__"]
    brought = {alias.asname or alias.name for node in imports for alias in getattr(node, "names", [])}
    assert set(ast.literal_eval(exported.value)) == brought


def test_a_suppression_carries_its_reason_on_the_same_line() -> None:
    bare = re.compile(
        r"#\s*(?:noqa(?::\s*[A-Z]+\d+(?:[, ]+[A-Z]+\d+)*)?|type:\s*ignore(?:\[[^]]*\])?|pragma:[\w ]+)(?P<reason>.*)"
    )
    beside = (path for folder in ("tests", "benches", "conformance") for path in (ROOT / folder).rglob("*.py"))
    files = [*modules(), *PACKAGE.rglob("*.pyi"), *beside]
    strays = [
        f"{name(path)}:{number}"
        for path in files
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (found := bare.search(line)) and not re.search(r"\w{3}", found["reason"])
    ]
    assert strays == []


@pytest.mark.parametrize("room", sorted(CRATE_ROOMS))
def test_a_crate_room_uses_only_rooms_below_it(room: str) -> None:
    allowed = CRATE_ROOMS[room] | GROUND | {room}
    strays = [
        f"{name(path)} uses crate::{used}"
        for path in crate_files()
        if crate_room_of(path) == room
        for used in sorted(used_crate_rooms(code_of(path)) & CRATE_ROOMS.keys() - allowed)
    ]
    assert strays == []


def test_every_crate_file_stands_in_a_room_of_the_design() -> None:
    assert {crate_room_of(path) for path in crate_files()} <= CRATE_ROOMS.keys()


@pytest.mark.parametrize("room", sorted(FORBIDDEN_WORDS))
def test_a_low_crate_room_does_not_know_the_protocol_above_it(room: str) -> None:
    strays = [
        f"{name(path)} says {found[0]!r}"
        for path in crate_files()
        if crate_room_of(path) == room
        for found in FORBIDDEN_WORDS[room].finditer(code_of(path))
    ]
    assert strays == []


def test_python_is_known_to_the_border_of_the_crate_only() -> None:
    """`cargo check --no-default-features` proves the same by building; this names the file."""
    strays = [
        name(path)
        for path in crate_files()
        if crate_room_of(path) not in {"py", "lib"} and re.search(r"pyo3|feature = \"python\"", code_of(path))
    ]
    assert strays == []


def test_a_room_over_the_limit_carries_its_reason_and_none_is_listed_in_vain() -> None:
    lengths = {name(path): len(path.read_text().splitlines()) for path in [*modules(), *crate_files()]}
    assert {path for path, length in lengths.items() if length > LIMIT} == LONG_ROOMS.keys()
    assert all(LONG_ROOMS.values())


def test_the_manifests_and_the_changelog_tell_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    crate = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert {project, crate, newest[1]} == {version("toolwire")}


def test_the_lints_are_the_ones_the_style_asks_for() -> None:
    lints = tomllib.loads((ROOT / "Cargo.toml").read_text())["lints"]
    denied = {"unwrap_used", "print_stdout", "dbg_macro", "allow_attributes_without_reason"}
    assert lints["rust"]["unsafe_code"] == "forbid"
    assert {rule for rule, level in lints["clippy"].items() if level == "deny"} >= denied
    assert sum(level == "allow" for level in lints["clippy"].values()) <= 10


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_a_page_names_only_targets_that_the_makefile_has(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^\s*|[$&;] )make ([a-z]+)", (ROOT / page).read_text(), re.MULTILINE))
    assert named <= targets


def test_what_is_tested_is_the_installed_wheel_of_this_tree() -> None:
    """A stale wheel would test yesterday's code: the installed Python files equal the tree's, byte for byte."""
    import toolwire  # noqa: PLC0415 - the other rules hold, and are worth reporting, while the package does not import
    from toolwire import _core  # noqa: PLC0415 - the same

    site = Path(sysconfig.get_path("platlib"))
    assert Path(toolwire.__file__) == site / "toolwire" / "__init__.py"
    assert Path(_core.__file__).parent == site / "toolwire"
    sources = [path.relative_to(PACKAGE) for kind in ("*.py", "*.pyi", "py.typed") for path in PACKAGE.rglob(kind)]
    installed = site / "toolwire"
    stale = [
        path.as_posix()
        for path in sources
        if not (installed / path).exists() or (installed / path).read_bytes() != (PACKAGE / path).read_bytes()
    ]
    assert stale == [], "run `make build` or `make dev`"
