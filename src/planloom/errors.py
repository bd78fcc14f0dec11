"""The error tree, sorted by who can repair what went wrong.

PlanloomError
 ├─ ConfigError          the user can: a setting, an option, a missing package
 ├─ InputError           the user can: a file or goal that cannot be worked with
 │   └─ UsageError       before anything is begun: a file that is not there, an empty goal
 ├─ ToolError            the caller of a tool can (a model, a plan): becomes a failed ToolResult
 │   ├─ UnknownToolError
 │   ├─ ArgumentError    the arguments do not fit the tool's schema
 │   └─ ToolTimeoutError
 ├─ PlanError            the planner can: the plan does not pass its check
 ├─ ModelError           a later try or the user can: a language model gave no usable reply
 │   └─ ContextWindowError   the caller can, by a shorter conversation; else the user
 ├─ BudgetExhaustedError the user can, by granting more: money, tokens, calls or time ran out
 └─ UnsourcedNumberError nobody at run time: a report states a number that nothing gave

Anything else that is raised is our own bug and keeps its traceback.
Every message says what happened, with the value, then what to do.
"""

from __future__ import annotations

from typing import Literal


class PlanloomError(Exception):
    """Base of all errors that Planloom raises on purpose.

    The message is English; `zh` is the same in Chinese, for errors that reach a user.
    """

    def __init__(self, message: str, *, zh: str = ""):
        super().__init__(message)
        self._zh = zh

    def text(self, lang: Literal["en", "zh"]) -> str:
        """Return the message in a language; English where no other was given."""
        return self._zh if lang == "zh" and self._zh else str(self)


class ConfigError(PlanloomError):
    """A setting, an option or an installation has to be changed by the user."""


class InputError(PlanloomError):
    """A file or a goal cannot be worked with; the message says what the user can do."""


class UsageError(InputError):
    """A call cannot even begin: a file is not there, a goal is empty, a target is no folder."""


class ToolError(PlanloomError):
    """A tool call failed in a way that its caller can act on."""


class UnknownToolError(ToolError):
    """No tool of that name is registered."""


class ArgumentError(ToolError):
    """The arguments of a call do not fit the tool's schema."""


class ToolTimeoutError(ToolError):
    """A tool ran into its time limit and was ended."""


class PlanError(PlanloomError):
    """A plan does not pass its static check; the message lists every problem with its mend."""


class ModelError(PlanloomError):
    """A language model gave no usable reply."""

    def __init__(
        self,
        message: str,
        *,
        zh: str = "",
        status: int | None = None,
        transient: bool = False,
        retry_after_s: float | None = None,
        may_be_starting: bool = False,
        sent: bool = True,
    ):
        """Say what happened; `status` is that of HTTP, None when no answer came.

        `transient` says whether the same request may work a little later, `retry_after_s` how
        long the provider asked to wait, `may_be_starting` that nothing listens at an address of
        this machine: a server that was just started does so in a second or two. `sent` is False
        where no request was sent, so that there is nothing to pay.
        """
        super().__init__(message, zh=zh)
        self.status = status
        self.transient = transient
        self.retry_after_s = retry_after_s
        self.may_be_starting = may_be_starting
        self.sent = sent


class ContextWindowError(ModelError):
    """The conversation is longer than the model's context window."""


class BudgetExhaustedError(PlanloomError):
    """A call would go over what a run may spend; nothing of it was spent."""

    def __init__(self, message: str, *, zh: str = "", limit: str = ""):
        """Say what ran out; `limit` names it as in `budget.Limits`."""
        super().__init__(message, zh=zh)
        self.limit = limit


class UnsourcedNumberError(PlanloomError):
    """The finished text states a number that no fact, goal or source document gives."""
