"""Errors: one base class for the whole project, and what strategies raise.

A message says what failed, the value that was seen, and what to do.
"""

from __future__ import annotations

from kafka_assignors.visible_text import excerpt, visible

_LONGEST_PROBLEM = 240  # a value of megabytes in the wrong place is no message


class AdvisorError(Exception):
    """Base of all errors that the advisor raises on purpose.

    A message may quote foreign text; whoever prints it (a terminal, a log, a traceback) gets one line that shows it.
    """

    def __str__(self) -> str:
        return visible(super().__str__())


class InvalidInputError(AdvisorError):
    """Input that cannot be right: refused whole, with the place that is wrong (``at``)."""

    place = problem = hint = ""

    @classmethod
    def at(cls, place: str, problem: str, hint: str = "") -> InvalidInputError:
        """Name the place (``file:line``, ``topic-partition``, a JSON path), what is wrong there, and what to do."""
        if len(problem) > _LONGEST_PROBLEM:
            problem = f"{problem[:_LONGEST_PROBLEM]}…"
        error = cls(f"{place}: {problem}" + (f"; {hint}" if hint else ""))
        error.place, error.problem, error.hint = place, problem, hint
        return error


class AssignorError(AdvisorError):
    """A strategy refused its input as the real class does.

    ``java_class`` is the class name of the exception that the real strategy throws.
    """

    def __init__(self, java_class: str, message: str = "") -> None:
        super().__init__(f"{java_class}: {message}" if message else java_class)
        self.java_class = java_class
        self.java_message = message


class EndlessReassignmentError(AssignorError):
    """The real strategy would never return on this input."""

    def __init__(self, message: str = "the real strategy repeats the same moves for ever on this input") -> None:
        super().__init__("EndlessReassignment", message)


class UnknownNameError(AdvisorError):
    """A strategy, partitioner, resource or finding code that nobody registered."""

    @classmethod
    def among(cls, kind: str, name: str, known: object) -> UnknownNameError:
        """Say which names exist."""
        names = ", ".join(sorted(str(known_name) for known_name in known))  # type: ignore[attr-defined]
        return cls(f"unknown {kind} {excerpt(name)}; known: {names}")
