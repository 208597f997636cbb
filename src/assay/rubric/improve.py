"""Improving rubrics: the names that programs call, and what they print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from assay.errors import SpecError
from assay.grading.config import JudgeSpec, LLMConfig
from assay.grading.dataset import RubricDataset
from assay.grading.improve import Improvement, iteration_line
from assay.grading.improvement import ImprovementConfig, ImprovementResult, Mode, Strategy
from assay.judging.rubric import Rubric
from assay.rubric.meta import show
from assay.spec.arguments import arguments_checked, keywords_named


@keywords_named
class ImprovementRunner:
    """Improves a rubric version by version; all settings are validated on construction."""

    def __init__(
        self, rubric: Rubric, task_prompt: str | None = None, *, config: ImprovementConfig | None = None
    ) -> None:
        if config is None:
            raise SpecError("an ImprovementRunner needs a config: ImprovementConfig(eval_llm=..., revision_llm=...)")
        self._config = config
        self._improvement = Improvement(rubric, task_prompt, config)
        if config.display == "html" and self._improvement.artifacts is None:
            raise SpecError('display="html" writes its page to the artifacts: set save_artifacts=True')

    async def run(self) -> ImprovementResult:
        """Grade and revise the rubric until it is good enough or nothing gets better any more."""
        result = await self._improvement.run()
        best = result.iterations[result.best_iteration]
        if self._config.display == "stdout":
            for version in result.iterations:
                print(iteration_line(version))
            print(f"stopped: {result.convergence_reason}; best: version {result.best_iteration}")
        if self._config.display is not None and best.quality_report is not None:
            folder = self._improvement.artifacts
            page = folder / "quality.html" if self._config.display == "html" and folder is not None else None
            show(best.quality_report, f"Version {best.iteration}", self._config.display, page)
        return result


@arguments_checked({})
async def improve_rubric(
    rubric: Rubric,
    task_prompt: str | None = None,
    *,
    config: ImprovementConfig | None = None,
    eval_llm: LLMConfig | list[JudgeSpec] | None = None,
    revision_llm: LLMConfig | None = None,
    validation_data: RubricDataset | None = None,
    max_iterations: int | None = None,
    display: Literal["stdout", "html"] | None = None,
    artifacts_dir: Path | str | None = None,
    save_artifacts: bool | None = None,
    show_progress: bool | None = None,
    mode: Mode | None = None,
    max_total_cost: float | None = None,
    strategy: Strategy | None = None,
) -> ImprovementResult:
    """Improve a rubric: a model revises it, judges grade every version, and only versions that are no worse are kept.

    What is named here wins over the `config`; without a config, `eval_llm` and `revision_llm` are needed.
    """
    named: dict[str, Any] = {
        "eval_llm": eval_llm,
        "revision_llm": revision_llm,
        "validation_data": validation_data,
        "max_iterations": max_iterations,
        "display": display,
        "artifacts_dir": artifacts_dir,
        "save_artifacts": save_artifacts,
        "show_progress": show_progress,
        "mode": mode,
        "max_total_cost": max_total_cost,
        "strategy": strategy,
    }
    named = {name: value for name, value in named.items() if value is not None}
    if config is None:
        missing = [name for name in ("eval_llm", "revision_llm") if name not in named]
        if missing:
            raise SpecError(f"improve_rubric needs {' and '.join(missing)}, or a config that has both")
        config = ImprovementConfig(**named)
    elif named:
        config = replace(config, **named)
    return await ImprovementRunner(rubric, task_prompt, config=config).run()
