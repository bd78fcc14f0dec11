"""Which effects need a person's word before they happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from planloom.engine.json_value import JsonReader, JsonValue, one_of
from planloom.tools.options import Approval, Effect, check_choice

ApprovalRule = Literal["ask", "allow", "deny"]

# Writing is allowed because a tool's context confines it to the run's folder and to the folders
# that the user named; what leaves the machine or runs code is asked for.
DEFAULT_RULES: Mapping[Effect, ApprovalRule] = {
    "pure": "allow",
    "read": "allow",
    "write": "allow",
    "send": "ask",
    "exec": "ask",
}


@dataclass(frozen=True, kw_only=True)
class ApprovalPolicy:
    """The user's rules: by effect, and by tool where one is named."""

    effects: Mapping[Effect, ApprovalRule] = field(default_factory=dict[Effect, ApprovalRule])
    """Those that are not named keep their `DEFAULT_RULES`."""
    tools: Mapping[str, ApprovalRule] = field(default_factory=dict[str, ApprovalRule])
    """By name of the tool; wins over everything else."""

    def __post_init__(self) -> None:
        """Refuse misspelled rules.

        Raises:
            ConfigError: an effect or a rule is none that there is.
        """
        for effect, rule in self.effects.items():
            check_choice(effect, get_args(Effect), "ApprovalPolicy: an effect")
            check_choice(rule, get_args(ApprovalRule), f"ApprovalPolicy: the rule for '{effect}'")
        for tool, rule in self.tools.items():
            check_choice(rule, get_args(ApprovalRule), f"ApprovalPolicy: the rule for '{tool}'")

    def rule(self, tool: str, effect: Effect, approval: Approval = "policy") -> ApprovalRule:
        """Return what holds for a call; `approval` is the tool's own wish.

        >>> ApprovalPolicy().rule("send_email", "send")
        'ask'
        """
        if tool in self.tools:
            return self.tools[tool]
        by_effect = self.effects.get(effect, DEFAULT_RULES[effect])
        # A tool may ask for more caution than the policy, and may not lift a denial.
        if by_effect == "deny" or approval == "policy":
            return by_effect
        return "ask" if approval == "always" else "allow"


@dataclass(frozen=True, kw_only=True)
class ApprovalRequest:
    """What a person is asked to decide."""

    key: str
    """`run/epoch.step`."""
    tool: str
    effect: Effect
    description: str
    """What the step is for, in the planner's words."""
    arguments: Mapping[str, JsonValue]
    """As the tool will get them, long values shortened."""
    error: str = ""
    """Set when the step has failed and another try is asked for."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the request as a JSON object."""
        return {
            "key": self.key,
            "tool": self.tool,
            "effect": self.effect,
            "description": self.description,
            "arguments": self.arguments,
            "error": self.error,
        }

    @classmethod
    def from_json(cls, value: object) -> ApprovalRequest:
        """Return the request that `to_json` wrote; ValueError when it is none."""
        fields = JsonReader(value, "the request for approval")
        return cls(
            key=fields.text("key"),
            tool=fields.text("tool"),
            effect=one_of(fields.text("effect"), get_args(Effect), "an effect"),
            description=fields.text("description", ""),
            arguments=fields.mapping("arguments"),
            error=fields.text("error", ""),
        )


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A person's answer."""

    approved: bool
    by: str = ""
    """Who decided."""
    note: str = ""
    """Their reason; a planner sees it when they denied."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the decision as a JSON object."""
        return {"approved": self.approved, "by": self.by, "note": self.note}

    @classmethod
    def from_json(cls, value: object) -> Decision:
        """Return the decision that `to_json` wrote; ValueError when it is none."""
        fields = JsonReader(value, "the decision")
        return cls(
            approved=fields.value("approved") is True,
            by=fields.text("by", ""),
            note=fields.text("note", ""),
        )
