"""A message: what failed, the value seen, what to do."""

from __future__ import annotations

from kafka_assignors.visible_text import excerpt, visible

_LONGEST_PROBLEM = 240


class AdvisorError(Exception):
    """Foreign text in the message becomes one line with visible control characters."""

    def __str__(self) -> str:
        return visible(super().__str__())


class InvalidInputError(AdvisorError):
    """Invalid input, refused as a whole."""

    location = problem = hint = ""

    @classmethod
    def at(cls, location: str, problem: str, hint: str = "") -> InvalidInputError:
        if len(problem) > _LONGEST_PROBLEM:
            problem = f"{problem[:_LONGEST_PROBLEM]}…"
        error = cls(f"{location}: {problem}" + (f"; {hint}" if hint else ""))
        error.location, error.problem, error.hint = location, problem, hint
        return error


class AssignorError(AdvisorError):
    """The real class refuses this input; ``java_class`` names its exception."""

    def __init__(self, java_class: str, message: str = "") -> None:
        super().__init__(f"{java_class}: {message}" if message else java_class)
        self.java_class = java_class
        self.java_message = message


class EndlessReassignmentError(AssignorError):
    """The real strategy never returns on this input."""

    def __init__(self, message: str = "the real strategy repeats the same moves for ever on this input") -> None:
        super().__init__("EndlessReassignment", message)


class UnknownNameError(AdvisorError):
    """Unregistered name of a strategy, partitioner, resource or finding code."""

    @classmethod
    def among(cls, kind: str, name: str, choices: object) -> UnknownNameError:
        names = ", ".join(sorted(str(choice) for choice in choices))  # type: ignore[attr-defined]
        return cls(f"unknown {kind} {excerpt(name)}; known: {names}")
