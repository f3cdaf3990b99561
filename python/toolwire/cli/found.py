"""The object that `MODULE:NAME` names, and the server that it is or becomes."""

import importlib
import os
import sys
import traceback
from functools import reduce
from typing import Any

from toolwire.bridge.serve_target import server_of
from toolwire.cli.server import Exit, Stop
from toolwire.cli.terminal import one_line
from toolwire.errors import ToolwireError

__all__ = ["described", "found", "server_found"]


def server_found(target: str) -> Any:
    """Give the server that `MODULE:NAME` names. Stops with the reason why there is none."""
    try:
        return server_of(found(target), target.partition(":")[0].rpartition(".")[2])
    except TypeError as error:
        raise Stop(Exit.USAGE, f"{one_line(target)}{error}") from error
    except ToolwireError as error:
        raise Stop(Exit.USAGE, one_line(str(error), 500)) from error


def found(target: str) -> object:
    """Give the object that `MODULE:NAME` names. Stops with the reason why there is none."""
    module_name, colon, path = target.partition(":")
    if not module_name or not colon or not path:
        raise Stop(Exit.USAGE, f"{one_line(target)} is no MODULE:NAME, as in shop:server or shop.tools:lookup_order")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - a search path is made of texts
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise Stop(Exit.USAGE, f"there is no module {one_line(module_name)}, here or where Python looks") from error
        raise Stop(Exit.USAGE, f"{one_line(module_name)} cannot be imported: {described(error)}") from error
    except Exception as error:
        raise Stop(Exit.USAGE, f"{one_line(module_name)} cannot be imported: {described(error)}") from error
    try:
        return reduce(getattr, path.split("."), module)
    except AttributeError as error:
        names = ", ".join(name for name in vars(module) if not name.startswith("_"))
        raise Stop(
            Exit.USAGE, f"{one_line(module_name)} has no {one_line(path)}; it has {one_line(names, 300)}"
        ) from error


def described(error: BaseException) -> str:
    """Name an error with its text, and the line of the user's own that it came from."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({last[0].filename}, line {last[0].lineno})" if last else ""
    return one_line(f"{type(error).__name__}: {error}{where}", 500)
