"""How large a picture is, read from the first bytes of its file."""

from __future__ import annotations

from math import ceil

_LARGEST_SIDE = 2_048
_MOST_TOKENS = 1_600


def picture_tokens(size: tuple[int, int] | None) -> int:
    """Return about how many tokens a picture of a size (width, height) in pixels takes.

    The dearer of two published rules: 170 tokens per tile of 512 x 512 and 85 on top (OpenAI), or
    one per 750 pixels (Anthropic), at most 1,600; those where the size is not known.
    """
    if size is None:
        return _MOST_TOKENS
    scale = min(1.0, _LARGEST_SIDE / max(*size, 1))
    width, height = size[0] * scale, size[1] * scale
    tiles = ceil(width / 512) * ceil(height / 512)
    return min(_MOST_TOKENS, ceil(max(85 + 170 * tiles, width * height / 750)))


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels of a PNG, JPEG, GIF or WebP file, or None.

    >>> picture_size(b"GIF89a" + bytes([64, 1, 200, 0]))
    (320, 200)
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        # Start of frame; C4, C8 and CC among them are tables.
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height = int.from_bytes(data[position + 5 : position + 7])
            return int.from_bytes(data[position + 7 : position + 9]), height
        # A length of 0 would never end.
        position += 2 + max(2, int.from_bytes(data[position + 2 : position + 4]))
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        return width, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width = int.from_bytes(data[26:28], "little") & 0x3FFF
        return width, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None
