"""A model around another, which speaks for it: retries, limits and checks build on it."""

from __future__ import annotations

from planloom.models.chat_model import ChatModel, ModelTraits


class WrappedModel:
    """What a model that wraps another has in common with it; `reply` and `stream` are its own."""

    def __init__(self, model: ChatModel):
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def traits(self) -> ModelTraits:
        """What it can do."""
        return self._model.traits

    @property
    def base_url(self) -> str | None:
        """Where the model is served; None where it does not say."""
        return address_of(self._model)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def address_of(model: object) -> str | None:
    """Return where a model is served; None where it does not say."""
    base_url: object = getattr(model, "base_url", None)
    return base_url if isinstance(base_url, str) else None
