"""Planloom weaves a goal into a finished deliverable."""

__version__ = "0.1.0"
