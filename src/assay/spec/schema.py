"""Generate the JSON Schema of files from the registry, for completion and checks in editors."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from assay.registry import KindTable, Registry
from assay.spec.parameters import PARAMETERS
from assay.spec.task import DatasetFile, SystemDefinition, Task

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


_PLACEHOLDER = {"type": "string", "pattern": "^<< config\\.[a-zA-Z0-9_-]+ >>$"}


def task_schema(registry: Registry) -> dict[str, Any]:
    """The schema of task files."""
    schema = _Schema(Task, "task")
    metrics = schema.union(registry.metrics)
    scorers = schema.union(registry.scorers)
    for reference in scorers["anyOf"]:
        fields = schema.definition(reference)["properties"]
        fields["metrics"] = {"anyOf": [{"type": "array", "items": metrics}, {"type": "null"}]}
    system = schema.models([SystemDefinition])["anyOf"]
    schema.schema["properties"]["definition"] = {"anyOf": [{"$ref": "#/$defs/Definition"}, *system]}
    definition = schema.definitions["Definition"]["properties"]
    definition["scorers"] = {"type": "array", "items": scorers}
    definition["solver"] = schema.union(registry.solvers)
    definition["dataset"] = _dataset_reference(schema.union(registry.sources))
    schema.allow_placeholders()
    schema.schema["properties"]["config_spec"] = {"type": "array", "items": schema.models(PARAMETERS.values())}
    return schema.schema


def dataset_schema(registry: Registry) -> dict[str, Any]:
    """The schema of dataset files."""
    schema = _Schema(DatasetFile, "dataset")
    schema.schema["properties"]["source"] = schema.union(registry.sources)
    return schema.schema


def schemas(registry: Registry) -> dict[str, dict[str, Any]]:
    """All schemas by the kind of file."""
    return {"task": task_schema(registry), "dataset": dataset_schema(registry)}


def _dataset_reference(source: dict[str, Any]) -> dict[str, Any]:
    key = {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$|^<< config\\.[a-zA-Z0-9_-]+ >>$"}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "key": key,
            "keys": {"type": "array", "items": key},
            "source": {"anyOf": [source, {"type": "string"}]},
        },
    }


class _Schema:
    """A schema that takes in the schemas of other models."""

    def __init__(self, model: type[BaseModel], title: str) -> None:
        self.schema: dict[str, Any] = {"$schema": _DIALECT, **_of(model), "title": title}
        self.definitions: dict[str, Any] = self.schema.setdefault("$defs", {})

    def union(self, shelf: KindTable[Any]) -> dict[str, Any]:
        return self.models(kind.settings for kind in shelf.values())

    def models(self, models: Any) -> dict[str, Any]:
        return {"anyOf": [self._reference(model) for model in models]}

    def definition(self, reference: dict[str, Any]) -> Any:
        return self.definitions[reference["$ref"].removeprefix("#/$defs/")]

    def allow_placeholders(self) -> None:
        """Let every field of the definition be a parameter of the task instead of a value; its type stays fixed."""
        for definition in self.definitions.values():
            for name, field in definition.get("properties", {}).items():
                is_text = field.get("type") == "string" and "enum" not in field
                if name != "type" and not is_text:
                    definition["properties"][name] = {"anyOf": [field, _PLACEHOLDER]}

    def _reference(self, model: type[BaseModel]) -> dict[str, Any]:
        schema = _of(model)
        self.definitions.update(schema.pop("$defs", {}))
        self.definitions[model.__name__] = schema
        return {"$ref": f"#/$defs/{model.__name__}"}


def _of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()
