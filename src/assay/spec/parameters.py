"""The parameters of a `config_spec`, and the values they take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import yaml

from assay.spec.fields import Key, Settings
from assay.spec.messages import described
from assay.spec.nearest import listing

Dtype = Literal["string", "int", "float", "boolean", "model", "dataset", "dataset_column"]


class Parameter(Settings):
    """The settings that every parameter has."""

    type: str
    key: Key
    display_name: str
    description: str | None = None
    default_value: Any = None
    nullable: bool = False

    def checked(self, value: Any) -> Any:
        """Return the value if the parameter accepts it; otherwise raise a ValueError that says what it accepts."""
        return value

    def parsed(self, text: str) -> Any:
        """A value from the command line."""
        return text


class FloatParameter(Parameter):
    """A parameter that takes a number."""

    type: Literal["float"]
    min: float | None = None
    max: float | None = None

    def checked(self, value: Any) -> Any:
        return _within(_as("float", value), self.min, self.max)

    def parsed(self, text: str) -> Any:
        return _from_text("float", text)


class IntParameter(Parameter):
    """A parameter that takes a whole number."""

    type: Literal["int"]
    min: int | None = None
    max: int | None = None

    def checked(self, value: Any) -> Any:
        return _within(_as("int", value), self.min, self.max)

    def parsed(self, text: str) -> Any:
        return _from_text("int", text)


class BooleanParameter(Parameter):
    """True or false."""

    type: Literal["boolean"]

    def checked(self, value: Any) -> Any:
        return _as("boolean", value)

    def parsed(self, text: str) -> Any:
        return _from_text("boolean", text)


class TextParameter(Parameter):
    """Text: free, a name, a template or code."""

    type: Literal["string", "dataset", "dataset_column"]

    def checked(self, value: Any) -> Any:
        return _as("string", value)


class StringParameter(TextParameter):
    """Free text, Python code or a Jinja template."""

    type: Literal["string"]
    string_kind: Literal["freeform", "python", "jinja"] = "freeform"
    examples: list[Any] | None = None
    default_file_content: str | None = None


class DatasetParameter(TextParameter):
    """The key of a dataset."""

    type: Literal["dataset"]


class DatasetColumnParameter(TextParameter):
    """The name of a column."""

    type: Literal["dataset_column"]
    dataset: Any = None
    dataset_key: Any = None


class ModelParameter(Parameter):
    """The key of a model."""

    type: Literal["model"]
    usage: Any = None

    def checked(self, value: Any) -> Any:
        return _as("string", value)


class ListParameter(Parameter):
    """A list, all of one type when `dtype` names it."""

    type: Literal["list"]
    dtype: Dtype | None = None

    def checked(self, value: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(f"expected a list, got {described(value)}")
        return [_as(self.dtype, element) for element in value]

    def parsed(self, text: str) -> Any:
        return _structured(text)


class DictParameter(Parameter):
    """A mapping, its values all of one type when `value_dtype` names it."""

    type: Literal["dict"]
    value_dtype: Dtype | None = None

    def checked(self, value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError(f"expected a mapping, got {described(value)}")
        return {str(name): _as(self.value_dtype, element) for name, element in value.items()}

    def parsed(self, text: str) -> Any:
        return _structured(text)


class CategoricalParameter(Parameter):
    """One of the allowed values, or several with `multiple`; `values_mapping` translates them."""

    type: Literal["categorical"]
    allowed_values: list[Any]
    multiple: bool = False
    values_mapping: dict[str, Any] | None = None

    def checked(self, value: Any) -> Any:
        if not self.multiple:
            return self._one(value)
        if not isinstance(value, list):
            raise ValueError(f"expected a list of allowed values, got {described(value)}")
        return [self._one(option) for option in value]

    def _one(self, value: Any) -> Any:
        for allowed in self.allowed_values:
            if allowed == value and isinstance(allowed, bool) == isinstance(value, bool):
                return (self.values_mapping or {}).get(str(allowed), allowed)
        raise ValueError(f"expected one of {listing(map(str, self.allowed_values))}, got {described(value)}")

    def parsed(self, text: str) -> Any:
        if not self.multiple:
            return self._named(text)
        structure = _structured(text)
        entries = structure if isinstance(structure, list) else text.split(",")
        return [self._named(entry.strip()) if isinstance(entry, str) else entry for entry in entries]

    def _named(self, text: str) -> Any:
        return next((allowed for allowed in self.allowed_values if _spelt(allowed) == text), text)


class TaskResultParameter(Parameter):
    """A parameter that takes the result of another task."""

    type: Literal["task_result"]


PARAMETERS: Mapping[str, type[Parameter]] = {
    "float": FloatParameter,
    "int": IntParameter,
    "boolean": BooleanParameter,
    "string": StringParameter,
    "model": ModelParameter,
    "dataset": DatasetParameter,
    "dataset_column": DatasetColumnParameter,
    "list": ListParameter,
    "dict": DictParameter,
    "categorical": CategoricalParameter,
    "task_result": TaskResultParameter,
}


def accepted(parameter: Parameter, value: Any) -> Any:
    """The value as the parameter takes it, from a file or a program; a ValueError when it does not."""
    if value is None:
        if parameter.nullable:
            return None
        raise ValueError("expected a value, got nothing (the parameter is not nullable)")
    return parameter.checked(value)


def from_command_line(parameter: Parameter, text: str) -> Any:
    """The value that `--config key=text` means; a ValueError when the parameter cannot take it."""
    if text == "null" and parameter.nullable:
        return None
    return parameter.checked(parameter.parsed(text))


def _spelt(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as(dtype: str | None, value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    checks: dict[str, tuple[bool, str]] = {
        "int": (is_number and isinstance(value, int), "a whole number"),
        "float": (is_number and math.isfinite(value), "a number"),
        "boolean": (isinstance(value, bool), "true or false"),
    }
    holds, words = checks.get(dtype or "", (dtype is None or isinstance(value, str), "text"))
    if not holds:
        raise ValueError(f"expected {words}, got {described(value)}")
    return float(value) if dtype == "float" else value


def _within(value: Any, low: float | None, high: float | None) -> Any:
    if low is not None and value < low:
        raise ValueError(f"expected a number >= {low}, got {value}")
    if high is not None and value > high:
        raise ValueError(f"expected a number <= {high}, got {value}")
    return value


_FROM_TEXT: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "boolean": lambda text: {"true": True, "false": False}[text.lower()],
}


def _from_text(dtype: str, text: str) -> Any:
    """A plain value from the command line; what cannot be read stays text, which the check then refuses."""
    try:
        return _FROM_TEXT[dtype](text.strip())
    except (ValueError, KeyError):
        return text


def _structured(text: str) -> Any:
    """A list or mapping from the command line, as JSON or YAML."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
