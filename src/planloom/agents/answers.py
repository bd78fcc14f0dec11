"""The answer of a run as text.

Apart from the files that it made: handing those out loads what reads tables and writes reports.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from planloom.engine.artifacts import refs_in
from planloom.tools.codec import encode


def answer_text(results: Mapping[str, object]) -> str:
    """Return the outputs that are texts, numbers or small data, one after the other.

    Tables, pictures and files have no text: they are copied.

    >>> answer_text({"a": "Forty-two.", "b": [1, 2]})
    'Forty-two.\\n[1, 2]'
    """
    texts = (_text(value) for value in results.values())
    return "\n".join(text for text in texts if text)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or next(refs_in(value), None) is not None:
        return ""
    encoded = encode(value)
    if isinstance(encoded, Mapping) and set(encoded) == {"text"}:
        return str(encoded["text"])
    return json.dumps(encoded, ensure_ascii=False)
