"""An option, described at its field of a checked dataclass.

Shell, form, REST call, ``clusters.toml``, JSON schema and docs/options.md are made from it::

    max_hours: Annotated[Hours | None, Option("At most so many hours", "hours that all waves take", "H")] = None

is ``--max-hours H`` in a shell and ``max_hours`` elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema
from pydantic_core.core_schema import CoreSchema

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.values import CHECKED, WHOLE, WRITTEN, Pattern, Several, describe_error, wrong_key


@dataclass(frozen=True)
class Option:
    """One option; its type and range are those of its field.

    title        the field's name in a form
    help         "…" at its end: a shell repeats the option for each value
    metavar      empty for a flag
    name         in shell, form, REST call and store; default: the field's
    example      of its JSON, for docs/options.md
    is_in_shell  False: INPUT or a file gives it
    field, section, kind, held  set by ``options_of``; ``held`` is the field's default
    """

    title: str
    help: str
    metavar: str = ""
    name: str = ""
    example: str = ""
    is_in_shell: bool = True
    field: str = ""
    section: str = ""
    kind: Any = None
    held: Any = None

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def form_help(self) -> str:
        return self.help.removesuffix(" …")

    @property
    def is_repeated(self) -> bool:
        return any(isinstance(part, Several) for part in self.kind.__metadata__)

    @property
    def is_of_topics(self) -> bool:
        (item, *_) = get_args(self.kind.__origin__) or (None,)
        return item == Pattern or "pattern" in getattr(getattr(item, "__origin__", None), "__dataclass_fields__", ())

    @property
    def is_flag(self) -> bool:
        return self.kind.__origin__ is bool

    @cached_property
    def default(self) -> Any:
        return None if self.held is None or self.held in ((), frozenset()) else self.write(self.held)

    def from_text(self, text: str) -> Any:
        """Return a number where the option takes no text."""
        types = self.schema["items"]["type"] if self.is_repeated else self.schema["type"]
        return int(text) if "string" not in types and WHOLE.fullmatch(text) else text

    def read(self, value: Any) -> Any:
        """Return the value of JSON or a shell's texts. Raises UsageError with the option's name."""
        return self._adapter.validate_python(value, context=WRITTEN)

    def write(self, held: Any) -> Any:
        return self._adapter.dump_python(held, context=WRITTEN, exclude_none=True)

    @cached_property
    def schema(self) -> dict[str, Any]:
        json_schema = self._adapter.json_schema()
        is_number = isinstance(self.default, int | float) and not isinstance(self.default, bool)
        return _flat(json_schema, json_schema.get("$defs", {}), may_lack=self.default is None or is_number)

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.kind, config=CHECKED)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_wrap_validator_function(self._check, handler(source))

    def _check(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        flag = replace(self, name=self.name or info.field_name).flag
        try:
            return inner(value)
        except ValidationError as error:
            key = wrong_key(error)
            is_shown = isinstance(key, str) or (isinstance(value, Mapping) and key is not None)
            raise UsageError.at(f"{flag} {key}" if is_shown else flag, describe_error(error)) from error
        except InvalidInputError as error:
            raise UsageError.at(flag, str(error)) from error


def options_of(section: Any) -> tuple[Option, ...]:
    """Return the options of a checked dataclass."""
    hints, options = get_type_hints(section, include_extras=True), []
    for name in section.__annotations__:
        inner, *annotations = get_args(hints[name]) if hasattr(hints[name], "__metadata__") else (None,)
        for option in annotations:
            if isinstance(option, Option):
                others = [part for part in annotations if part is not option]
                held = getattr(section, name, None)  # mappings have no default in the class
                named = replace(option, name=option.name or name, field=name, section=section.section, held=held)
                options.append(replace(named, kind=Annotated[(inner, *others, named)]))
    return tuple(options)


def _flat(schema: Any, defs: Mapping[str, Any], *, may_lack: bool = False) -> dict[str, Any]:
    """Return the schema for Airflow's forms: no references and titles, lists of types for alternatives."""
    if "$ref" in schema:
        return _flat(defs[schema["$ref"].rpartition("/")[2]], defs, may_lack=may_lack)
    if "anyOf" in schema:
        (inner,) = [part for part in schema["anyOf"] if part != {"type": "null"}]
        return _flat(inner, defs, may_lack=True)
    flat = {key: value for key, value in schema.items() if key not in ("title", "default", "description", "$defs")}
    if "items" in flat:
        flat["items"] = _flat(flat["items"], defs)
    if patterns := flat.pop("patternProperties", None):  # ``propertyNames`` has them, too
        (flat["additionalProperties"],) = patterns.values()
    if "properties" in flat:
        flat["properties"] = {name: _flat(part, defs) for name, part in flat["properties"].items()}
    types = [flat["type"]] if isinstance(flat["type"], str) else flat["type"]
    types = ["null", *types] if may_lack else types
    if may_lack and "enum" in flat:
        flat["enum"] = [None, *flat["enum"]]
    return flat | {"type": types[0] if len(types) == 1 else types}
