"""Which way the requests went: what the runner asks of each leg, and that toolwire at both ends takes the fast one."""

from pathlib import Path

import pytest

from conformance.baseline import Leg, legs, slow
from conformance.both_ends import both_ends
from conformance.lanes import Lanes

pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")


def test_the_counters_of_a_connection_and_of_an_app_are_read_alike() -> None:
    assert Lanes.of({"express_requests": 3, "sdk_requests": 2, "late_answers": 9}) == Lanes(3, 2)
    assert Lanes.of({"express_calls": 3, "sdk_requests": 2}) == Lanes(3, 2)
    assert str(Lanes(3, 2) + Lanes(1, 0)) == "4 of 6 requests"


def test_a_leg_below_its_floor_is_told_by_end() -> None:
    leg = Leg("both", "2026-07-28", express={"server": 5, "client": 3})
    assert list(slow(leg, {"server": Lanes(5, 9), "client": Lanes(3, 0)})) == []
    told = [
        "both 2026-07-28: 4 of 6 requests went express at the server, and 5 have to",
        "both 2026-07-28: 0 of 0 requests went express at the client, and 3 have to",
    ]
    assert list(slow(leg, {"server": Lanes(4, 2)})) == told


def test_floors_are_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    file.write_text("[both.x]\nexpress.server = 4\n")
    assert legs(file)[0].express == {"server": 4}


def test_a_server_that_stores_events_is_asked_for_nothing() -> None:
    assert [leg.name for leg in legs() if leg.role == "resumable" and leg.express] == []


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn runs there alone
@pytest.mark.parametrize("leg", [leg for leg in legs() if leg.role == "both"], ids=lambda leg: leg.revision)
async def test_at_both_ends_every_call_goes_express_in_both_eras(leg: Leg) -> None:
    assert list(slow(leg, await both_ends(leg.revision))) == []
