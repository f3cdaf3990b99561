"""Public names of discovered tools: source and remote name as two escaped path segments, so that no two pairs meet.

Source: spec many-sources 1.6.
"""

from __future__ import annotations

import re
from urllib.parse import quote

__all__ = ["escape", "public_name"]


_PLAIN = re.compile(r"[A-Za-z0-9_.~$&+=:@-]*", re.ASCII).fullmatch


def escape(segment: str) -> str:
    """One path segment: UTF-8 in upper-case percent escapes but for ASCII letters, digits and `-_.~$&+=:@`."""
    if _PLAIN(segment):
        return segment
    return quote(segment, safe="-_.~$&+=:@", errors="replace")


def public_name(source: str, remote: str) -> str:
    """`escape(source)/escape(remote)`; the remote segment alone where the source has no name."""
    return f"{escape(source)}/{escape(remote)}" if source else escape(remote)
