"""Faults D12 to D17: content blocks. One that cannot be read is a marker, and the others stand."""

import base64

from tests.bridge.raw import answers_in_turn, entry, imported
from toolwire import MediaPart, TextPart

NOTE = (
    b'{"content":[{"type":"resource","resource":{"uri":"n://1","mimeType":"text/markdown","text":"# T"}},'
    b'{"type":"resource","resource":{"uri":"n://2","blob":"AAEC"}},'
    b'{"type":"resource_link","uri":"n://3","name":"r","mimeType":"application/pdf"}]}'
)


async def test_d12_an_unknown_block_is_a_marker_between_its_neighbours_with_its_bytes_kept() -> None:
    video = b'{"type":"video","data":"AA==","mimeType":"video/mp4"}'
    body = b'{"content":[{"type":"text","text":"a"},' + video + b',{"type":"text","text":"b"}]}'
    async with imported(entry("t"), calls=answers_in_turn(body)) as (_, tools):
        output = await tools["t"].call()
    assert (output.text, output.warnings) == ("a\n[unsupported block: video]\nb", ())
    assert (output.parts[1].block, output.parts[1].raw) == ("unsupported", video)


BROKEN: dict[bytes, str] = {
    b'{"text":"x"}': "no type",
    b'{"type":7}': "type is a number, not a string",
    b'{"type":"text"}': "no text",
    b'{"type":"text","text":null}': "text is null, not a string",
    b'{"type":"image","data":"AAEC"}': "no mimeType",
    b'{"type":"image","mimeType":"image/png"}': "no data",
    b'{"type":"image","data":"AA*=","mimeType":"image/png"}': "data is not base64",
    b'{"type":"audio","data":5,"mimeType":"audio/wav"}': "data is a number, not a string",
    b'{"type":"resource","resource":"n://1"}': "resource is a string, not an object",
    b'{"type":"resource","resource":{"uri":"n://1","blob":"?"}}': "blob is not base64",
    b'{"type":"resource","resource":{"uri":"n://1","text":["T"]}}': "text is an array, not a string",
    b'{"type":"resource_link"}': "no uri",
}


async def test_a_broken_block_is_a_marker_and_a_warning_and_the_others_stand() -> None:
    """Design 4.4."""
    blocks = [b'{"type":"text","text":"first"}', *BROKEN, b'{"type":"text","text":"last"}']
    async with imported(entry("t"), calls=answers_in_turn(b'{"content":[' + b",".join(blocks) + b"]}")) as (_, tools):
        output = await tools["t"].call()
    assert output.text.split("\n") == ["first", *(f"[broken block: {why}]" for why in BROKEN.values()), "last"]
    assert output.warnings == tuple(f"content[{index}]: {why}" for index, why in enumerate(BROKEN.values(), 1))
    assert [part.raw for part in output.parts] == blocks


async def test_d14_audio_is_a_part_and_a_marker_and_the_text_beside_it_stands() -> None:
    wav = base64.b64encode(b"RIFF")
    blocks = b'{"type":"text","text":"say"},{"type":"audio","data":"' + wav + b'","mimeType":"audio/wav"}'
    async with imported(entry("t"), calls=answers_in_turn(b'{"content":[' + blocks + b"]}")) as (_, tools):
        output = await tools["t"].call()
    assert output.text == "say\n[audio audio/wav, 4 bytes]"
    said, audio = output.parts
    assert isinstance(said, TextPart)
    assert isinstance(audio, MediaPart)
    assert (said.text, audio.data, audio.mime_type, audio.size) == ("say", b"RIFF", "audio/wav", 4)
    assert output.joined_text() is None


async def test_base64_in_lines_is_media_all_the_same_with_a_warning() -> None:
    """Ours: Python's own `base64.encodebytes` writes it so."""
    data = base64.encodebytes(bytes(range(120))).replace(b"\n", b"\\n")
    body = b'{"content":[{"type":"image","data":"' + data + b'","mimeType":"image/png"}]}'
    async with imported(entry("t"), calls=answers_in_turn(body)) as (_, tools):
        output = await tools["t"].call()
    (image,) = output.parts
    assert isinstance(image, MediaPart)
    assert (output.text, image.data, image.size) == ("[image image/png, 120 bytes]", bytes(range(120)), 120)
    assert output.warnings == ("content[0]: white space in base64",)


async def test_d16_a_resource_and_a_link_keep_all_they_say_and_nothing_is_fetched() -> None:
    async with imported(entry("t"), calls=answers_in_turn(NOTE)) as (server, tools):
        note, blob, link = (await tools["t"].call()).parts
        assert isinstance(note, TextPart)
        assert (note.text, note.uri, note.mime_type) == ("# T", "n://1", "text/markdown")
        assert isinstance(blob, MediaPart)
        assert (blob.data, blob.size, blob.uri) == (b"\x00\x01\x02", 3, "n://2")
        assert isinstance(link, MediaPart)
        assert (link.data, link.size, link.uri, link.name) == (None, None, "n://3", "r")
        assert link.mime_type == "application/pdf"
        assert server.requests("resources/read") == []


async def test_d17_the_meta_of_a_result_and_the_annotations_of_a_block_are_kept() -> None:
    block = b'{"type":"text","text":"u","annotations":{"audience":["user"]},"_meta":{"k":1}}'
    body = b'{"content":[' + block + b'],"_meta":{"ui":{"resourceUri":"ui://x"}}}'
    async with imported(entry("t"), calls=answers_in_turn(body)) as (_, tools):
        output = await tools["t"].call()
    assert output.meta == b'{"ui":{"resourceUri":"ui://x"}}'
    assert output.parts[0].raw == block
