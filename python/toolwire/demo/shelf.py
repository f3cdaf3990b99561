"""The tools of the demo server: their listing as it goes over the wire, and what each one does.

The entries are raw JSON on purpose. Their numbers (`1.50`, `1E400`, integers past 2^53) and the order of their keys are
legal and common, and most clients change them on the way. This file knows JSON text and no protocol: a tool takes the
raw text of its arguments, known to be complete JSON, and gives the raw text of a `tools/call` result.
"""

import json
from collections.abc import Callable
from decimal import Decimal, DecimalException, localcontext
from typing import Any, Final

ENTRIES: Final[tuple[bytes, ...]] = (
    (
        b'{"name":"echo","title":"Echo","description":"Gives its arguments back, byte for byte, as text and value.",'
        b'"inputSchema":{"type":"object","properties":{"price":{"type":"number","default":1.50,"maximum":1E400},'
        b'"account":{"type":"integer","examples":[9007199254740993,123456789012345678901234567890]}}},'
        b'"annotations":{"readOnlyHint":true,"idempotentHint":true}}'
    ),
    (
        b'{"name":"add","title":"Add","description":"Adds two numbers exactly: 0.10 and 0.20 make 0.30.","inputSchema":'
        b'{"type":"object","properties":{"b":{"type":"number"},"a":{"type":"number"}},"required":["a","b"]},'
        b'"annotations":{"readOnlyHint":true}}'
    ),
    (
        b'{"name":"lookup_order","title":"Look up an order","description":"Status, items and total of one order.",'
        b'"inputSchema":{"type":"object","properties":{"order_id":{"type":"integer","minimum":1,'
        b'"description":"As printed on the receipt; real ones have 19 digits."}},"required":["order_id"],'
        b'"additionalProperties":false},"outputSchema":{"type":"object","properties":{"order_id":{"type":"integer"},'
        b'"status":{"enum":["packed","shipped","delivered"]},"total":{"type":"number","minimum":0.00},'
        b'"items":{"type":"array","items":{"type":"string"}}},"required":["order_id","status","total"]},'
        b'"annotations":{"readOnlyHint":true}}'
    ),
    (
        b'{"name":"slow","title":"Take a while","description":"Answers after some seconds; other calls go on.",'
        b'"inputSchema":{"type":"object","properties":{"seconds":{"type":"number","minimum":0,"maximum":60,'
        b'"default":1.0}}}}'
    ),
    (
        b'{"name":"image","title":"A picture","description":"A text block and one small PNG.",'
        b'"inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}}'
    ),
    (
        b'{"name":"fail","title":"Fail","description":"Always ends with an error that a model can act on.",'
        b'"inputSchema":{"type":"object","properties":{"reason":{"type":"string"}}}}'
    ),
)

_ORDER_DIGITS: Final = 40
_PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="  # red, 1 x 1
)


class RefusedError(Exception):
    """The arguments don't do; `str(error)` is for the model."""


def decoded(arguments: str) -> dict[str, Any]:
    """Decode an object, its numbers to `Decimal`: nothing is rounded, and `1.50` still knows its zero."""
    values = json.loads(arguments, parse_float=Decimal, parse_int=Decimal)
    if not isinstance(values, dict):
        raise RefusedError("the arguments must be one JSON object")
    return values


def number(values: dict[str, Any], name: str) -> Decimal:
    """Give the member `name`, which must be a number."""
    value = values.get(name)
    if not isinstance(value, Decimal):
        raise RefusedError(f"{name}: a number is required")
    return value


def text_result(text: str, *, structured: str | None = None, failed: bool = False) -> str:
    """Write a result of one text block, with an optional structured value pasted in as it is."""
    members = [f'"content":[{{"type":"text","text":{json.dumps(text)}}}]']
    if structured is not None:
        members.append(f'"structuredContent":{structured}')
    if failed:
        members.append('"isError":true')
    return "{" + ",".join([*members, '"resultType":"complete"']) + "}"


def echo(arguments: str) -> str:
    """Paste the arguments back, in both places where a result can hold them."""
    return text_result(arguments, structured=arguments)


def add(arguments: str) -> str:
    """Add exactly, to 2,000 digits."""
    values = decoded(arguments)
    with localcontext() as context:
        context.prec = 2000
        try:
            return text_result(str(number(values, "a") + number(values, "b")))
        except DecimalException as error:
            raise RefusedError(f"the sum is out of range: {type(error).__name__}") from error


def lookup_order(arguments: str) -> str:
    """Find an order. Every positive integer is one, here."""
    order = number(decoded(arguments), "order_id")
    if order < 1 or order.adjusted() >= _ORDER_DIGITS or order != order.to_integral_value():
        raise RefusedError(f"order_id: a positive integer of at most {_ORDER_DIGITS} digits is required")
    found = f'{{"order_id":{order:f},"status":"shipped","total":1249.50,"items":["espresso machine","filter, 2 x"]}}'
    return text_result(found, structured=found)


def image(_: str) -> str:
    """Answer with two blocks."""
    blocks = [
        {"type": "text", "text": "One red pixel:"},
        {"type": "image", "mimeType": "image/png", "data": _PIXEL},
    ]
    return json.dumps({"content": blocks, "resultType": "complete"}, separators=(",", ":"))


def fail(arguments: str) -> str:
    """Fail the way a tool should: with a text that says what to do."""
    reason = decoded(arguments).get("reason", "rate limited: try again in 30 seconds")
    return text_result(str(reason), failed=True)


def slow(arguments: str) -> str:
    """Name the wait that is over; the server does the waiting."""
    return text_result(f"waited {wait(arguments)} s")


def wait(arguments: str) -> float:
    """Seconds that a call of `slow` takes, 0 to 60."""
    values = decoded(arguments)
    seconds = number(values, "seconds") if "seconds" in values else Decimal(1)
    if not 0 <= seconds <= 60:  # noqa: PLR2004 - the schema's own bounds
        raise RefusedError("seconds: between 0 and 60")
    return float(seconds)


TOOLS: Final[dict[str, Callable[[str], str]]] = {
    "echo": echo,
    "add": add,
    "lookup_order": lookup_order,
    "slow": slow,
    "image": image,
    "fail": fail,
}
