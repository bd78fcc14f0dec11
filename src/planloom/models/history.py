"""The history of a conversation: only appended to, each message serialised once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

from planloom.models.messages import Message

Encode = Callable[[Message], bytes]


class History:
    """The messages of one conversation, oldest first.

    It never changes what it holds: providers keep a cache of the prompt's beginning, which an
    altered message would make worthless. What has to change becomes a new history.
    """

    def __init__(self, messages: Iterable[Message] = ()):
        self._messages = list(messages)
        self._encoded: dict[Encode, list[bytes]] = {}

    @property
    def messages(self) -> Sequence[Message]:
        """The messages so far; not to be altered."""
        return self._messages

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    @overload
    def __getitem__(self, position: int) -> Message: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Message]: ...

    def __getitem__(self, position: int | slice) -> Message | Sequence[Message]:
        return self._messages[position]

    def append(self, *messages: Message) -> None:
        """Add messages at the end."""
        self._messages.extend(messages)

    def encoded(self, encode: Encode) -> Sequence[bytes]:
        """Return each message in a provider's form; `encode` sees every message once.

        The list grows with the history and is not to be altered. Pass the same function object
        every time: it is the key of what was encoded before.
        """
        done = self._encoded.setdefault(encode, [])
        done.extend(encode(message) for message in self._messages[len(done) :])
        return done

    def fork(self) -> History:
        """Return a history that begins as this one does and goes its own way."""
        copy = History(self._messages)
        copy._encoded = {encode: list(done) for encode, done in self._encoded.items()}
        return copy
