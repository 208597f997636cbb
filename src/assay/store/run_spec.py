"""The description of a stored run: enough to read, compare, rescore and reproduce it without its files.

This module is the only one that writes or parses the JSON in `runs.spec`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

import orjson

from assay.errors import StoreError
from assay.spec.task import Action, Trials
from assay.types import Purpose
from assay.version import __version__

VERSION = 1
"""The form of the JSON below. Stores older than the form have no version: they are read as 0."""

RunKind = Literal["run", "grade", "import", "generate", "audit", "rescore"]
STEPS: frozenset[RunKind] = frozenset({"generate", "audit"})
"""Kinds of runs that are a step of something else: `latest` never means one of them."""

ValueRange = tuple[float, float]
_EMPTY: Mapping[str, Any] = {}
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMetric:
    """A metric of a scorer: the key and type under which results are stored, and its settings with defaults."""

    key: str
    type: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScorer:
    """A scorer of a run as it was: what it is called, how it was set, and what its values may be.

    `ranges` holds the least and greatest value of a field, `fields` the score fields that the scorer declares (None
    when they are known only afterwards). `rubrics` holds the rubrics it graded by, `content` a digest of files that it
    read, `code` what stands for its code: the version of a built-in kind, the digest of a plug-in.
    """

    key: str
    type: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    purpose: Purpose = "score"
    ranges: Mapping[str, ValueRange] = field(default_factory=dict)
    fields: tuple[str, ...] | None = None
    metrics: tuple[StoredMetric, ...] = ()
    rubrics: tuple[Mapping[str, Any], ...] = ()
    content: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """A model that a run asks: its name, everything about its endpoint that can change a reply, and its sampling."""

    name: str
    identity: Mapping[str, Any]
    sampling: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDataset:
    """The source of samples as the file describes it, and the digest of the bytes.

    In a dataset with `families`, rows with the same `source_id` were made of the same row.
    """

    source: Mapping[str, Any] = field(default_factory=dict)
    sha256: str | None = None
    id_column: str | None = None
    families: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The provenance of a run: facts for the reader that do not determine a score."""

    assay: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    git_commit: str | None = None
    git_dirty: bool | None = None
    source_run: str | None = None
    tool: str | None = None
    tool_version: str | None = None
    file: str | None = None
    task_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """The description of a stored run; see `identity` for what of it makes two runs the same.

    `definition` is the task's definition with parameters filled in and secrets by name; `models` has the model that
    answers under "". `extra` holds what only one kind of run has, such as the generator of a generated dataset.
    """

    kind: RunKind
    task: str
    display_name: str | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()
    evaluation: str | None = None
    specification: str | None = None
    definition: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    dataset: StoredDataset = field(default_factory=StoredDataset)
    models: Mapping[str, StoredModel] = field(default_factory=dict)
    scorers: tuple[StoredScorer, ...] = ()
    trials: Trials | None = None
    fans_out: bool = False
    actions: tuple[Action, ...] = ()
    limit: int | None = None
    subsampling: str = "head"
    seed: int = 0
    repeat: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)
    version: int = VERSION

    @property
    def scorer_keys(self) -> tuple[str, ...]:
        """The keys of the scorers in the order of their slots; slot 1 is the first."""
        return tuple(scorer.key for scorer in self.scorers)

    @property
    def num_trials(self) -> int:
        """Return the number of answers per sample."""
        return 1 if self.trials is None else self.trials.num_trials

    @property
    def answer_column(self) -> str | None:
        """Return the dataset column with recorded answers; None if a model was asked."""
        solver = self.definition.get("solver")
        column = solver.get("trace_column") if isinstance(solver, Mapping) else None
        return None if column is None else str(column)

    def scorer(self, key: str) -> StoredScorer | None:
        """The scorer with this key."""
        return next((scorer for scorer in self.scorers if scorer.key == key), None)

    def identity(self) -> str:
        """The digest of everything that can change an answer or a score.

        Names, tags, descriptions, times, paths and versions of packages are left out: they change no number.
        """
        if self.kind == "import":
            return import_identity(str(self.provenance.tool), str(self.dataset.sha256))
        document = _document(self)
        for unimportant in ("display_name", "name", "tags", "evaluation", "specification", "provenance", "version"):
            document.pop(unimportant, None)
        definition = {k: v for k, v in self.definition.items() if k not in _STATED_ELSEWHERE}
        document["definition"] = _without_isolation(definition)
        document["scorers"] = [_deciding(scorer) for scorer in document["scorers"]]
        if self.dataset.sha256 is not None:
            document["dataset"]["source"] = settings_of_source(self.dataset.source)
        # a rescored run is one of its source: the same scorers over other answers are another run
        document["source_run"] = self.provenance.source_run
        return hashlib.sha256(orjson.dumps(document, option=_OPTIONS, default=str)).hexdigest()

    def repeated(self, repeat: int) -> RunSpec:
        """The spec of a run that asks everything again, so that its answers are new."""
        return replace(self, repeat=repeat)

    def as_stored(self) -> RunSpec:
        """Return the spec as it is read back from the store: tuples become lists."""
        return RunSpec.from_json(self.to_json())

    def unnamed(self) -> str:
        """Return the spec without name and tags, which people may change at any time."""
        return replace(self, name=None, tags=()).to_json()

    def to_json(self) -> str:
        """The spec as the store keeps it."""
        return orjson.dumps(_document(self), option=orjson.OPT_NON_STR_KEYS, default=str).decode()

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        """Read a stored spec of this or of any earlier form."""
        document = orjson.loads(text)
        version = document.get("version", 0)
        if version == 0:
            return _from_version_0(document)
        if version > VERSION:
            raise StoreError(f"a run was written by a newer assay (spec version {version}): upgrade assay to read it")
        return _from_version_1(document)


def _without_isolation(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition without the isolation of the solver's code: it decides where code runs, not what it returns."""
    solver = definition.get("solver")
    if not isinstance(solver, Mapping):
        return definition
    settings = {name: value for name, value in solver.items() if name != "isolation"}
    after = settings.get("postprocessor")
    if isinstance(after, Mapping):
        settings["postprocessor"] = {name: value for name, value in after.items() if name != "isolation"}
    return {**definition, "solver": settings}


def import_identity(tool: str, sha256: str) -> str:
    """The identity of imported results: the format and the bytes of the file."""
    return hashlib.sha256(f"import\0{tool}\0{sha256}".encode()).hexdigest()


_NAMES = ("key", "display_name", "description", "purpose", "metrics")
"""Settings of a scorer that change no score."""


def changed_settings(before: StoredScorer, after: StoredScorer) -> list[str]:
    """Return the settings in which two scorers of one key differ, except display names and metrics."""
    sides = []
    for scorer in (before, after):
        # a raised version gives other scores for the same settings
        settings = {"type": scorer.type, **scorer.settings, "version": scorer.code}
        if scorer.rubrics:
            # the rubric itself, wherever the file found it
            settings["rubric"] = scorer.rubrics
        values = {name: value for name, value in settings.items() if name not in _NAMES and value is not None}
        sides.append({name: orjson.dumps(value, option=_OPTIONS, default=str) for name, value in values.items()})
    names = dict.fromkeys([*sides[0], *sides[1]])
    return [name for name in names if sides[0].get(name) != sides[1].get(name)]


def provenance(**fields: Any) -> Provenance:
    """The provenance of a run of this release."""
    return Provenance(assay=__version__, **fields)


def _document(spec: RunSpec) -> dict[str, Any]:
    """Return a spec as JSON; empty entries are left out, so that new fields do not change older identities."""
    document: dict[str, Any] = {
        "version": VERSION,
        "kind": spec.kind,
        "task": spec.task,
        "seed": spec.seed,
        "scorers": [_filled(scorer) for scorer in spec.scorers],
    }
    for scorer, entry in zip(spec.scorers, document["scorers"], strict=True):
        if scorer.metrics:
            entry["metrics"] = [_filled(metric) for metric in scorer.metrics]
    for name in ("display_name", "name", "evaluation", "specification", "limit"):
        if getattr(spec, name) is not None:
            document[name] = getattr(spec, name)
    for name in ("tags", "definition", "config", "fans_out", "repeat", "extra"):
        if getattr(spec, name):
            document[name] = getattr(spec, name)
    if spec.subsampling != "head":
        document["subsampling"] = spec.subsampling
    if spec.trials is not None:
        document["trials"] = spec.trials.model_dump(exclude_none=True)
    if spec.actions:
        document["actions"] = [action.model_dump() for action in spec.actions]
    document["dataset"] = _filled(spec.dataset)
    document["models"] = {key: _filled(model) for key, model in spec.models.items()}
    document["provenance"] = _filled(spec.provenance)
    return document


_STATED_ELSEWHERE = ("dataset", "scorers", "trials", "actions")
"""The parts of a task's definition that have their own field in the spec."""


def _deciding(scorer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scorer's entry without display names, and without the path of a rubric whose content it includes."""
    named = ("display_name", "description", *(("rubric",) if scorer.get("rubrics") else ()))
    if scorer.get("type") == "python":
        # it decides where the code runs, not what it returns
        named = (*named, "isolation")
    settings = {name: value for name, value in scorer.get("settings", {}).items() if name not in named}
    metrics = [
        {**metric, "settings": {k: v for k, v in metric.get("settings", {}).items() if k not in named}}
        for metric in scorer.get("metrics", ())
    ]
    return {**scorer, "settings": settings, "metrics": metrics}


def settings_of_source(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return what determines the samples of a digested source: its settings, and how its file is read.

    >>> settings_of_source({"type": "local", "file_path": "data/a.CSV", "id_column": "id"})
    {'type': 'local', 'id_column': 'id', 'suffix': '.csv'}
    """
    settings = {name: value for name, value in source.items() if name != "file_path"}
    return {**settings, "suffix": PurePath(str(source.get("file_path", ""))).suffix.lower()}


def _filled(part: Any) -> dict[str, Any]:
    """Return the non-empty fields of a frozen value."""
    values = {name: getattr(part, name) for name in part.__slots__}
    return {name: value for name, value in values.items() if value is not None and value != () and value != _EMPTY}


def _from_version_1(document: Mapping[str, Any]) -> RunSpec:
    fields = dict(document)
    fields["scorers"] = tuple(_scorer(entry) for entry in document["scorers"])
    fields["dataset"] = StoredDataset(**document.get("dataset", {}))
    fields["models"] = {key: StoredModel(**model) for key, model in document.get("models", {}).items()}
    fields["provenance"] = Provenance(**document.get("provenance", {}))
    fields["tags"] = tuple(document.get("tags", ()))
    fields["trials"] = Trials.model_validate(document["trials"]) if document.get("trials") else None
    fields["actions"] = tuple(Action.model_validate(action) for action in document.get("actions", ()))
    return RunSpec(**fields)


def _scorer(entry: Mapping[str, Any]) -> StoredScorer:
    fields = dict(entry)
    fields["ranges"] = {name: (low, high) for name, (low, high) in entry.get("ranges", {}).items()}
    fields["fields"] = None if entry.get("fields") is None else tuple(entry["fields"])
    fields["metrics"] = tuple(StoredMetric(**metric) for metric in entry.get("metrics", ()))
    fields["rubrics"] = tuple(entry.get("rubrics", ()))
    return StoredScorer(**fields)


# Version 0: stores written before specs had a form. A dict was built by five commands, each in its own way.

_GRADED_RANGES: Mapping[str, ValueRange] = {"score": (0.0, 1.0), "coverage": (0.0, 1.0), "truth_score": (0.0, 1.0)}
"""The range of a rubric's totals, which a graded run of version 0 does not state."""


def kind_of_version_0(document: Mapping[str, Any]) -> RunKind:
    """Return the command that wrote a spec of version 0."""
    step = document.get("aside")
    if step in ("audit", "generate"):
        return "audit" if step == "audit" else "generate"
    if "rules" in document and "judges" in document:
        return "grade"
    if (document.get("dataset", {}).get("source") or {}).get("type") == "imported":
        return "import"
    # only rescoring wrote the digests of scorers' files always, and its keys in alphabetical order
    if "contents" in document and list(document) == sorted(document):
        return "rescore"
    return "run"


def _from_version_0(document: Mapping[str, Any]) -> RunSpec:
    kind = kind_of_version_0(document)
    task = document.get("task") or {}
    definition = task.get("definition") or {}
    dataset = document.get("dataset") or {}
    trials = definition.get("trials")
    solver = definition.get("solver")
    source = dataset.get("source") or {}
    only_here = ("generator", "num_samples", "few_shot", "shuffle_seed")
    return RunSpec(
        version=0,
        kind=kind,
        task=str(task.get("key", "")),
        display_name=task.get("display_name"),
        definition=definition,
        config=document.get("config") or {},
        dataset=StoredDataset(source=source, sha256=dataset.get("sha256"), families=bool(dataset.get("families"))),
        models={
            key: StoredModel(name=str(identity.get("model", key)), identity=identity)
            for key, identity in (document.get("models") or {}).items()
        },
        scorers=tuple(_scorers_of_version_0(document, kind, definition)),
        trials=Trials.model_validate(trials) if trials else None,
        fans_out=isinstance(solver, Mapping) and bool(solver.get("postprocessor")),
        actions=tuple(Action.model_validate(action) for action in definition.get("actions") or ()),
        limit=document.get("limit"),
        subsampling=document.get("subsampling", "head"),
        seed=document.get("seed") or 0,
        repeat=document.get("repeat", 0),
        extra={name: document[name] for name in only_here if document.get(name) is not None},
        provenance=Provenance(assay=document.get("assay"), tool=source.get("format"), file=source.get("file")),
    )


def _scorers_of_version_0(
    document: Mapping[str, Any], kind: RunKind, definition: Mapping[str, Any]
) -> list[StoredScorer]:
    keys = document.get("scorers") or []
    if kind in ("grade", "audit"):
        settings = {"judges": document.get("judges", []), "panel": document.get("rules", {})}
        mean = StoredMetric(key="mean", type="mean", settings={"type": "mean", "field": "score", "name": "score"})
        return [
            StoredScorer(
                key=str(key),
                type="rubric",
                settings=settings,
                ranges=_GRADED_RANGES,
                metrics=(mean,),
                rubrics=tuple(document.get("rubrics", ())),
            )
            for key in keys
        ]
    nodes = definition.get("scorers") or []
    contents = document.get("contents") or []
    rubrics = document.get("sheets") or {}
    imported = document.get("rubrics") or ()
    scorers = []
    for place, key in enumerate(keys):
        node = nodes[place] if place < len(nodes) and isinstance(nodes[place], Mapping) else {}
        entries = node.get("metrics")
        metrics = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
        scorers.append(
            StoredScorer(
                key=str(key),
                type=node.get("type"),
                settings={name: value for name, value in node.items() if name != "metrics"},
                purpose=node.get("purpose", "score"),
                metrics=tuple(
                    StoredMetric(key=name, type=str(entry.get("type")), settings=entry)
                    for name, entry in zip(_numbered(metrics), metrics, strict=True)
                ),
                rubrics=(rubrics[key],) if key in rubrics else tuple(imported),
                content=contents[place] if place < len(contents) else None,
            )
        )
    return scorers


def _numbered(entries: list[Mapping[str, Any]]) -> list[str]:
    """Return the keys of metrics: their own, else the type, numbered when repeated."""
    taken = {str(entry["key"]) for entry in entries if entry.get("key")}
    keys: list[str] = []
    for entry in entries:
        name = str(entry.get("key") or entry.get("type"))
        candidate, n = name, 1
        while not entry.get("key") and candidate in taken:
            n += 1
            candidate = f"{name}_{n}"
        taken.add(candidate)
        keys.append(candidate)
    return keys
