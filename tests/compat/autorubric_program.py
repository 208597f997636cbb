"""A program in AutoRubric's names: it runs under assay as it is, and under AutoRubric with the import changed.

Under assay, which is what the tests do:

    python tests/loopback/server.py --port 8099 &
    python tests/compat/autorubric_program.py http://127.0.0.1:8099/v1

Under AutoRubric 1.6.1, in an environment that has it:

    sed 's/assay\\.rubric/autorubric/' tests/compat/autorubric_program.py > program.py
    python program.py http://127.0.0.1:8099/v1

Every name of AutoRubric's public interface is used at least once, and what comes of it is checked.
"""

import asyncio
import inspect
import sys
import tempfile
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

import assay.rubric as package
from assay.rubric import (
    AggregatedMultiChoiceVerdict,
    AggregationStrategy,
    BiasResult,
    BootstrapResult,
    BootstrapResults,
    CannotAssessConfig,
    CannotAssessMode,
    CannotAssessStrategy,
    ConfidenceInterval,
    CorrelationResult,
    CountFn,
    Criterion,
    CriterionJudgment,
    CriterionMetrics,
    CriterionOption,
    CriterionReport,
    CriterionVerdict,
    DataItem,
    DistributionResult,
    EMDResult,
    EnsembleCriterionReport,
    EnsembleEvaluationReport,
    ErrorCategory,
    EscalationConfig,
    EscalationCurve,
    EscalationPoint,
    EvalConfig,
    EvalResult,
    EvalRunner,
    EvalTimingStats,
    EvaluationReport,
    ExperimentManifest,
    FewShotConfig,
    FewShotExample,
    GenerateResult,
    ImprovementConfig,
    ImprovementResult,
    ImprovementRunner,
    IssueDetail,
    ItemResult,
    IterationResult,
    JudgeMetrics,
    JudgeVote,
    KSTestResult,
    LengthPenalty,
    LLMCalls,
    LLMClient,
    LLMConfig,
    MetricsResult,
    MultiChoiceJudgeVote,
    MultiChoiceJudgment,
    MultiChoiceVerdict,
    NominalAggregation,
    OrdinalAggregation,
    PenaltyType,
    Rubric,
    RubricDataset,
    ScaleType,
    ThinkingConfig,
    ThinkingLevel,
    ThinkingLevelLiteral,
    ThinkingOutputDict,
    ThinkingParam,
    ToGradeInput,
    TokenUsage,
    aggregate_completion_cost,
    aggregate_evaluation_usage,
    aggregate_token_usage,
    calibrate_escalation,
    classify_grading_error,
    compute_length_penalty,
    compute_metrics,
    debug,
    earth_movers_distance,
    escalation_stats,
    evaluate,
    evaluate_rubric_in_context,
    evaluate_rubric_standalone,
    extract_verdicts_from_report,
    fill_ground_truth,
    filter_cannot_assess,
    generate,
    get_in_context_meta_rubric,
    get_standalone_meta_rubric,
    improve_rubric,
    ks_test,
    normalize_to_grade_input,
    parse_thinking_output,
    replay_escalation,
    score_distribution,
    systematic_bias,
    verdict_to_binary,
    verdict_to_string,
    wasserstein_distance,
    word_count,
)
from assay.rubric.dataset import RubricDataset as SameDataset
from assay.rubric.eval import EvalProgressDisplay
from assay.rubric.graders import CriterionGrader, Grader, JudgeSpec
from assay.rubric.llm import RateLimitPool, T
from assay.rubric.metrics import (
    CannotAssessStats,
    ConfusionMatrix,
    CoverageStats,
    CriterionMetricsUnion,
    CriterionType,
    NAStats,
    NominalCriterionMetrics,
    OptionMetrics,
    OrdinalCriterionMetrics,
    PooledScaleMetrics,
    classify_criteria,
    classify_criterion,
    extract_all_verdicts_from_report,
    filter_na_multi_choice,
    get_option_value,
    is_na_option,
    resolve_ground_truth,
)
from assay.rubric.types import CANONICAL_NA_OPTION, RubricCriterionJudgment, RubricJudgment

MET, UNMET, UNSURE = CriterionVerdict.MET, CriterionVerdict.UNMET, CriterionVerdict.CANNOT_ASSESS
SCALE = [CriterionOption(label=label, value=value) for label, value in (("poor", 0.0), ("fair", 0.5), ("good", 1.0))]


def near(value, expected, tolerance=1e-9):
    assert value is not None
    assert abs(value - expected) <= tolerance, (value, expected)


def raises(kind, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except kind:
        return
    raise AssertionError(f"{function} raised nothing")


def literals():
    assert get_args(AggregationStrategy)[:4] == ("majority", "weighted", "unanimous", "any")
    assert get_args(OrdinalAggregation)[:6] == ("mean", "median", "weighted_mean", "mode", "min", "max")
    assert get_args(NominalAggregation)[:3] == ("mode", "weighted_mode", "unanimous")
    assert get_args(ScaleType) == ("ordinal", "nominal")
    assert get_args(LLMCalls) == ("per_criterion", "per_item")
    assert get_args(PenaltyType) == ("ALL", "OUTPUT_ONLY", "THINKING_ONLY")
    assert get_args(CannotAssessMode) == ("exclude", "as_unmet", "as_category")
    assert set(get_args(CriterionType)) == {"binary", "ordinal", "nominal"}
    assert get_args(ErrorCategory) == ("infrastructure", "parse", "unknown")
    assert get_args(ThinkingLevelLiteral) == ("none", "low", "medium", "high")
    assert int in get_args(ThinkingParam)
    assert str in get_args(ToGradeInput)
    assert len(get_args(CriterionMetricsUnion)) == 3
    assert get_args(CountFn)[1] is int
    assert debug is False
    assert T.__name__ == "T"


def criteria():
    binary = Criterion(requirement="Is polite.", name="polite")
    scale = Criterion(requirement="How good is it?", weight=5.0, options=SCALE)
    fault = Criterion(requirement="How rude is it?", weight=-5.0, options=SCALE, scale_type="nominal")
    assert binary.weight == 10.0
    assert binary.is_binary
    assert scale.is_multi_choice
    assert scale.options == SCALE
    assert scale.find_option_by_label(" GOOD ") == 2
    assert scale.get_option_value(1) == 0.5
    assert scale.na_option_index is None
    assert scale.with_guaranteed_na_option().na_option_index == 3
    assert (scale.worst_option_among([1, 2]), fault.worst_option_among([1, 2])) == (1, 2)
    assert fault.worst_scored_option() == (2, SCALE[2])
    assert scale.validate_options() is scale
    assert SCALE[0].validate_value_range() is SCALE[0]
    assert CANONICAL_NA_OPTION.na
    assert CriterionOption(label="half", value="0.5").value == 0.5
    raises(ValueError, CriterionOption, label="x", value=1.5)
    raises(ValueError, Criterion, requirement="x", options=SCALE[:1])
    raises(ValueError, scale.find_option_by_label, "superb")
    assert classify_criterion(scale) == "ordinal"
    assert classify_criteria([binary, scale, fault]) == ["binary", "ordinal", "nominal"]
    assert get_option_value(scale, 2) == 1.0
    assert not is_na_option(scale, 0)
    assert resolve_ground_truth(["MET", "good"], [binary, scale]) == [MET, 2]
    assert filter_na_multi_choice([0, 3, 3], [0, 3, 1], scale.with_guaranteed_na_option()) == ([0], [0], 1, 1, 0)


def verdicts():
    raises(ValueError, MultiChoiceVerdict, selected_index=1)
    raises(ValueError, MultiChoiceJudgment, selected_option=1)
    choice = MultiChoiceVerdict(selected_index=1, selected_label="fair", value=0.5)
    final = AggregatedMultiChoiceVerdict(selected_index=1, selected_label="fair", value=0.5, aggregated_value=0.6)
    assert (choice.na, final.aggregated_value) == (False, 0.6)
    assert MultiChoiceJudgment(selected_option=2, explanation="e").reasoning is None
    assert CriterionJudgment(criterion_status="MET", explanation="e").criterion_status is MET
    part = RubricCriterionJudgment(criterion_id="c0", criterion_status=MET, explanation="e")
    assert RubricJudgment(judgments=[part]).judgments[0].selected_option is None
    vote = JudgeVote(judge_id="a", verdict=MET, reason="r")
    assert (vote.weight, vote.is_error) == (1.0, False)
    chosen = MultiChoiceJudgeVote(
        judge_id="a", selected_index=1, selected_label="fair", value=0.5, reason="r", shuffle_order=[2, 0, 1]
    )
    assert chosen.shuffle_order == [2, 0, 1]
    lost = JudgeVote(judge_id="a", verdict=UNSURE, reason="r", error="infrastructure: HTTP 500")
    assert lost.is_error
    one = CriterionReport(requirement="r", verdict=MET, reason="r")
    assert (one.score_value, one.is_na, one.is_error) == (1.0, False, False)
    scale = Criterion(requirement="r", options=SCALE)
    panel = EnsembleCriterionReport(
        criterion=scale,
        final_verdict=None,
        final_reason="r",
        final_multi_choice_verdict=final,
        multi_choice_votes=[chosen],
    )
    assert (panel.score_value, panel.is_na, panel.is_error) == (0.5, False, False)
    first = EnsembleCriterionReport(criterion=Criterion(requirement="r"), final_verdict=MET, final_reason="r")
    report = EnsembleEvaluationReport(score=1.0, report=[first, panel])
    assert extract_verdicts_from_report(report, 2)[0] is MET
    assert extract_all_verdicts_from_report(report, [first.criterion, scale]) == [MET, 1]
    usage = TokenUsage(prompt_tokens=10, completion_tokens=5, total_tokens=15)
    paid = EvaluationReport(score=0.5, token_usage=usage, completion_cost=0.25)
    assert aggregate_evaluation_usage([paid, paid]) == (TokenUsage(20, 10, 30), 0.5)
    assert aggregate_token_usage([None, usage]) == usage
    assert (usage + usage).total_tokens == 30
    assert aggregate_completion_cost([None, 0.5, 0.25]) == 0.75
    assert (report.llm_raw_score, report.judge_scores, paid.report) == (None, {}, None)
    assert verdict_to_binary([MET, UNMET]) == [1, 0]
    assert verdict_to_string([MET, UNSURE]) == ["MET", "CANNOT_ASSESS"]
    assert filter_cannot_assess([MET, UNSURE], [UNMET, MET]) == ([MET], [UNMET])
    assert filter_cannot_assess([MET, UNSURE], [UNMET, MET], mode="as_unmet") == ([MET, UNMET], [UNMET, MET])


def rubrics(folder):
    rubric = Rubric(
        [Criterion(requirement="Is polite."), Criterion(requirement="How good?", name="quality", options=SCALE)],
        guidelines="Be fair.",
    )
    assert (len(rubric.rubric), rubric.guidelines) == (2, "Be fair.")
    near(rubric.compute_score([MET, "fair"]), 0.75)
    near(rubric.compute_score(["MET", "good"], normalize=False), 20.0)
    near(rubric.compute_score([UNSURE, "good"], cannot_assess_strategy=CannotAssessStrategy.ZERO), 0.5)
    near(rubric.compute_score([UNSURE, "good"], True, CannotAssessStrategy.PARTIAL, 0.5), 0.75)
    text = '[{"requirement": "Is polite.", "weight": "7"}]'
    (folder / "rubric.yaml").write_text(text)
    with (folder / "rubric.yaml").open() as file:
        for again in (Rubric.from_json(text), Rubric.from_yaml(text), Rubric.from_file(file)):
            assert again.rubric[0].weight == 7.0
    assert Rubric.from_file(str(folder / "rubric.yaml")).rubric[0].requirement == "Is polite."
    sections = {"sections": [{"criteria": [{"requirement": "a"}]}, {"requirement": "b"}]}
    assert [criterion.requirement for criterion in Rubric.from_dict(sections).rubric] == ["a", "b"]
    assert len(Rubric.validate_and_create_criteria([{"requirement": "a"}])) == 1
    raises(FileNotFoundError, Rubric.from_file, "nowhere.yaml")
    raises(ValueError, Rubric.from_dict, [{"requirment": "a"}])

    dataset = RubricDataset(prompt="Write.", rubric=rubric, name="texts")
    dataset.add_item("One", "first", [MET, "good"], None, "A reference", "Write well.")
    dataset.add_item("Two", "second", ground_truth=["UNMET", "poor"], ground_truth_reasons=["No.", None])
    item = DataItem("Three", "third", ["MET", "fair"], None, "Another", "Write better.", None)
    dataset.items.append(item)
    assert SameDataset is RubricDataset
    assert (item.reference_submission, item.prompt) == ("Another", "Write better.")
    assert dataset.criterion_names == ["C1", "quality"]
    assert (dataset.num_criteria, dataset.total_positive_weight) == (2, 20.0)
    assert (dataset.get_item_prompt(0), dataset.get_item_prompt(idx=1)) == ("Write well.", "Write.")
    assert dataset.get_item_reference_submission(0) == "A reference"
    assert dataset.get_item_rubric(idx=0) is rubric
    near(dataset.compute_weighted_score([MET, "fair"]), 0.75)
    dataset.to_file(folder / "dataset.json")
    for again in (
        RubricDataset.from_file(folder / "dataset.json"),
        RubricDataset.from_json(dataset.to_json(indent=None)),
    ):
        assert again.items[1].ground_truth_reasons == ["No.", None]
        assert [str(entry) for entry in again.items[0].ground_truth][1] == "good"
    train, test = dataset.split_train_test(2, stratify=False, seed=1)
    assert (len(train), len(test)) == (2, 1)
    raises(FileNotFoundError, RubricDataset.from_file, "nowhere.json")
    raises(ValueError, dataset.add_item, "Four", "fourth", ["MET"])


def settings(folder):
    config = LLMConfig("openai/x", temperature=0.5, thinking="high", api_key="k")
    assert (config.timeout, config.max_retries, config.cache_enabled, config.prompt_caching) == (60.0, 3, False, True)
    assert LLMConfig("openai/x").temperature is None
    config.to_yaml(folder / "config.yaml")
    assert LLMConfig.from_yaml(folder / "config.yaml").temperature == 0.5
    assert config.get_thinking_config().level == ThinkingLevel.HIGH
    assert LLMConfig("openai/x", thinking=1000).get_thinking_config().budget_tokens == 1000
    assert ThinkingConfig().get_effective_budget() == 2048
    assert ThinkingConfig(ThinkingLevel.LOW).get_reasoning_effort() == "low"
    judge = JudgeSpec(config, "a", 2.0)
    assert judge.judge_model_config is judge.llm_config is config
    assert JudgeSpec(judge_model_config=config, judge_id="b").weight == 1.0
    raises(ValueError, JudgeSpec, config, "a", 0)
    raises(TypeError, JudgeSpec, config)
    assert CannotAssessConfig().strategy is CannotAssessStrategy.SKIP
    assert FewShotConfig().n_examples == 3
    assert FewShotExample("text", MET).reason is None
    assert EvalConfig().resume
    assert classify_grading_error(ValueError("x")) == "parse"
    pool = RateLimitPool.get_instance()
    assert asyncio.run(pool.get_semaphore("m", 3)) is not None
    assert pool.get_current_limit("m") == 3
    RateLimitPool.reset_instance()
    RateLimitPool.reset()
    parts: ThinkingOutputDict = parse_thinking_output("<thinking>a b</thinking><output>c</output>")
    assert parts == {"thinking": "a b", "output": "c"}
    assert normalize_to_grade_input("c") == {"thinking": "", "output": "c"}
    penalty = LengthPenalty(free_budget=1, max_cap=5, penalty_at_cap=0.5, exponent=1.0)
    near(compute_length_penalty("a b c", penalty), 0.25)
    near(compute_length_penalty(parts, penalty), 0.25)
    letters = LengthPenalty(free_budget=0, max_cap=4, exponent=1.0, count_fn=len, penalty_type="OUTPUT_ONLY")
    near(compute_length_penalty(parts, letters), 0.125)
    assert word_count("a b  c") == 3
    with EvalProgressDisplay(2, "detailed", ["a"]) as display:
        display.set_status("grading")
        display.advance(rate=1.0)


def statistics():
    low, high = [0.1, 0.2, 0.5, 0.9, 0.4], [0.2, 0.2, 0.6, 0.7, 0.1]
    scores = score_distribution(low, bins=4)
    assert isinstance(scores, DistributionResult)
    near(scores.mean, 0.42)
    near(scores.skewness, 0.6261779404026866)
    assert scores.histogram[0] == [2.0, 1.0, 1.0, 1.0]
    bias = systematic_bias(low, high)
    assert isinstance(bias, BiasResult)
    near(bias.p_value, 0.5011693674201632)
    near(bias.ci.upper, 0.28555946662990406)
    near(systematic_bias(low, high, paired=False).p_value, 0.753228896254453)
    assert BiasResult.interpret_effect_size(0.9) == "large"
    test = ks_test(low, high)
    assert isinstance(test, KSTestResult)
    near(test.statistic, 0.2)
    near(ks_test(low).p_value, 0.9808760308201865)
    distance = earth_movers_distance(low, high)
    assert isinstance(distance, EMDResult)
    near(distance.emd, 0.125)
    near(distance.std_diff, 0.04613355758973875)
    assert EMDResult.interpret_emd(distance.emd) == distance.interpretation == "moderate differences"
    near(wasserstein_distance([1, 5], [2, 3], normalize=False), 1.5)
    assert CorrelationResult.interpret_correlation(-0.5) == "moderate negative"
    interval = ConfidenceInterval(lower=0.25, upper=0.75)
    assert interval.width == 0.5
    assert BootstrapResult(estimate=0.5, ci=interval, standard_error=0.1, n_bootstrap=10).ci is interval
    matrix = ConfusionMatrix(matrix=[[3, 1], [2, 4]], labels=["MET", "UNMET"])
    assert (matrix.tp, matrix.fn, matrix.fp, matrix.tn, matrix.total, matrix.n_classes) == (3, 1, 2, 4, 10, 2)
    near(matrix.precision, 0.6)
    near(matrix.fpr, 1 / 3)
    option = OptionMetrics(label="a", index=0, precision=1.0, recall=0.5, f1=2 / 3, support_true=2, support_pred=1)
    assert option.support_true == 2
    assert CoverageStats(n_total=4, n_covered=3).n_errored == 0
    times = EvalTimingStats.from_durations([1.0, 3.0], 4.0)
    assert times.to_dict()["mean_item_duration_seconds"] == 2.0
    now = datetime.now(UTC)
    manifest = ExperimentManifest("e", now, "d", "hash", 2, "completed", {0, 1})
    assert ExperimentManifest.from_dict(manifest.to_dict()).completed_indices == {0, 1}


def submission(number, status, option):
    """A text that makes the loopback server answer as it says."""
    reply = f'{{"explanation": "because", "criterion_status": "{status}", "selected_option": {option}}}'
    return f"Text {number} [[reply: {reply}]]"


def graded_dataset():
    nominal = [CriterionOption(label=label, value=value) for label, value in (("no", 0.0), ("yes", 1.0))]
    rubric = Rubric(
        [
            Criterion(requirement="Is polite.", name="polite"),
            Criterion(requirement="How good?", name="quality", options=SCALE),
            Criterion(requirement="Is it signed?", name="signed", options=nominal, scale_type="nominal"),
        ]
    )
    dataset = RubricDataset(prompt="Write.", rubric=rubric, name="graded")
    answers = [("MET", 1), ("MET", 2), ("UNMET", 2), ("MET", 1), ("UNMET", 2), ("MET", 2)]
    truths = [
        ["MET", "poor", "no"],
        ["MET", "fair", "yes"],
        ["MET", "fair", "yes"],
        ["UNMET", "fair", "no"],
        ["UNMET", "good", "no"],
        ["MET", "fair", "yes"],
    ]
    for number, (answer, truth) in enumerate(zip(answers, truths, strict=True)):
        dataset.add_item(submission(number, *answer), f"item {number}", truth)
    return dataset


async def one_submission(url):
    config = LLMConfig("openai/x", temperature=0.0, api_base=url, api_key="k")
    dataset = graded_dataset()
    grader = CriterionGrader(judge_model_config=config, shuffle_options=False, system_prompt="Judge.")
    assert (grader.is_ensemble, grader.has_few_shot, len(grader.judge_ids)) == (False, False, 1)
    report = await dataset.rubric.grade(submission(0, "MET", 2), grader, query="Write.")
    assert isinstance(report, EnsembleEvaluationReport)
    near(report.score, (10 + 5 + 10) / 30)
    near(report.llm_raw_score, 25.0)
    polite, quality, _ = report.report
    assert (polite.final_verdict, polite.votes[0].verdict) == (MET, MET)
    assert quality.final_multi_choice_verdict.selected_label == "fair"
    assert quality.multi_choice_votes[0].selected_index == 1
    assert quality.score_value == 0.5
    assert report.token_usage.total_tokens > 0
    assert report.judge_scores["default"] == report.score
    judged = await grader.judge(submission(0, "MET", 2), dataset.rubric.rubric)
    assert judged[0].judge_id == "default"
    near((await grader.aggregate(judged)).score, report.score)
    direct = await grader.grade({"output": submission(0, "MET", 2)}, dataset.rubric.rubric, guidelines="Be fair.")
    near(direct.score, report.score)
    shuffled = CriterionGrader(judge_model_config=config, seed=7)
    assert shuffled.seed == 7
    orders = (
        (await dataset.rubric.grade(submission(1, "MET", 1), shuffled)).report[1].multi_choice_votes[0].shuffle_order
    )
    assert sorted(orders) == [0, 1, 2, 3]
    few = CriterionGrader(judge_model_config=config, training_data=dataset, few_shot_config=FewShotConfig(n_examples=1))
    assert few.has_few_shot


class Half(Grader):
    """A grader of one's own."""

    async def judge(self, to_grade, rubric, query=None, reference_submission=None):
        return [to_grade, len(rubric)]

    async def aggregate(self, judge_results, *, normalize=True):
        return EvaluationReport(score=0.5, raw_score=float(judge_results[1]))


class City(BaseModel):
    name: str


async def prompts(url):
    config = LLMConfig("openai/x", api_base=url, api_key="k", cache_enabled=True, cache_dir="replies")
    client = LLMClient(config)
    assert await client.generate("Answer.", "The capital? [[reply: Paris]]") == "Paris"
    result = await client.generate("Answer.", "The capital? [[reply: Paris]]", use_cache=False, return_result=True)
    assert isinstance(result, GenerateResult)
    assert result.content == "Paris"
    assert isinstance(client.cache_stats(), dict)
    assert isinstance(client.clear_cache(), int)
    client.close()
    city = await generate(
        "Answer.", 'The capital? [[reply: {"name": "Paris"}]]', "openai/x", City, api_base=url, api_key="k"
    )
    assert city == City(name="Paris")


async def batches(url):
    config = LLMConfig("openai/x", temperature=0.0, api_base=url, api_key="k")
    dataset = graded_dataset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grader = CriterionGrader(judges=[JudgeSpec(config, "a"), JudgeSpec(config, "b", 2.0)], shuffle_options=False)
    result = await evaluate(dataset, grader, show_progress=False, experiment_name="first")
    assert isinstance(result, EvalResult)
    assert (result.total_items, result.successful_items, result.failed_items, result.errors) == (6, 6, 0, [])
    assert len(result.get_scores()) == len(result.get_reports()) == len(result.filter_successful()) == 6
    assert result.filter_failed() == []
    assert result.timing_stats.total_duration_seconds >= 0
    assert result.experiment_name == "first"
    assert (result.total_token_usage.total_tokens > 0, result.item_results[0].report.mean_agreement) == (True, 1.0)
    again = EvalResult.from_experiment(result.experiment_dir)
    assert again.get_scores() == result.get_scores()
    entry = result.item_results[0]
    assert ItemResult.from_dict(entry.to_dict(), entry.item).report.score == entry.report.score
    own = await EvalRunner(dataset, Half(normalize=True), EvalConfig(show_progress=False, experiment_name="own")).run()
    assert own.get_scores() == [0.5] * 6
    filled = await fill_ground_truth(
        RubricDataset(prompt="Write.", rubric=dataset.rubric, items=[DataItem(submission(0, "MET", 2), "new")]),
        grader,
        show_progress=False,
    )
    assert filled.items[0].ground_truth == [MET, "fair", "yes"]
    metrics(result, dataset)


def metrics(result, dataset):
    found = compute_metrics(result, dataset, bootstrap=True, n_bootstrap=100, per_judge=True, seed=1)
    assert isinstance(found, MetricsResult)
    near(found.criterion_accuracy, 4 / 6)
    near(found.criterion_precision, 3 / 4)
    near(found.criterion_recall, 3 / 4)
    near(found.criterion_f1, 3 / 4)
    near(found.macro_accuracy, (4 + 4 + 5) / 18)
    assert (found.n_items, found.n_criteria, found.n_samples) == (6, 3, 18)
    polite, quality, signed = found.per_criterion
    assert isinstance(polite, CriterionMetrics)
    assert isinstance(quality, OrdinalCriterionMetrics)
    assert isinstance(signed, NominalCriterionMetrics)
    near(polite.kappa, 0.25)
    near(quality.exact_accuracy, 4 / 6)
    near(quality.adjacent_accuracy, 1.0)
    near(signed.kappa, 2 / 3)
    assert polite.confusion_matrix.tp == 3
    assert signed.confusion_matrix.matrix[0][:2] == [2, 1]
    assert isinstance(found.na_stats, NAStats)
    assert isinstance(found.cannot_assess_stats, CannotAssessStats)
    assert found.coverage_stats.coverage == 1.0
    assert isinstance(found.bootstrap, BootstrapResults)
    low, high = found.bootstrap.accuracy_ci
    assert low <= found.criterion_accuracy <= high
    assert isinstance(found.per_judge["a"], JudgeMetrics)
    near(found.per_judge["b"].criterion_accuracy, 4 / 6)
    truths = [dataset.compute_weighted_score(item.ground_truth) for item in dataset.items]
    errors = [score - truth for score, truth in zip(result.get_scores(), truths, strict=True)]
    near(found.score_mae, sum(map(abs, errors)) / 6)
    near(found.score_rmse, (sum(error**2 for error in errors) / 6) ** 0.5)
    near(found.bias.mean_bias, sum(errors) / 6)
    assert -1 <= found.score_spearman.coefficient <= 1
    assert found.score_kendall.method == "kendall"
    near(result.compute_metrics(dataset).score_pearson.coefficient, found.score_pearson.coefficient)
    pooled = compute_metrics(result, dataset, per_item_metrics="pooled").pooled_by_scale
    assert pooled is None or isinstance(pooled[0], PooledScaleMetrics)
    assert "polite" in found.summary()
    assert list(found.to_dataframe()["level"])[:2] == ["aggregate", "criterion"]
    found.to_file("metrics.json")
    assert Path("metrics.json").is_file()


ESCALATED = [
    # label, first judge, its confidence, stronger judge
    (MET, MET, 0.95, MET),
    (MET, MET, 0.9, UNMET),
    (UNMET, MET, 0.7, UNMET),
    (UNMET, UNMET, 0.6, UNMET),
    (MET, UNMET, 0.55, MET),
    (UNMET, MET, 0.5, MET),
]
"""Six verdicts on one criterion, for escalations whose numbers can be computed by hand."""


def run_of(dataset, judge_id, verdicts, confidences, cost):
    """The result of a run whose only judge gave these verdicts."""
    criterion = dataset.rubric.rubric[0]
    results = []
    for number, (verdict, confidence) in enumerate(zip(verdicts, confidences, strict=True)):
        chances = None if confidence is None else {verdict.value: confidence}
        vote = JudgeVote(judge_id=judge_id, verdict=verdict, reason="r", confidence=confidence, probabilities=chances)
        score = 1.0 if verdict is MET else 0.0
        report = EnsembleEvaluationReport(
            score=score,
            raw_score=10 * score,
            judge_scores={judge_id: score},
            report=[
                EnsembleCriterionReport(criterion=criterion, final_verdict=verdict, final_reason="r", votes=[vote])
            ],
            completion_cost=cost,
        )
        results.append(ItemResult(number, dataset.items[number], report, 0.5))
    now = datetime.now(UTC)
    times = EvalTimingStats.from_durations([0.5] * len(results), 3.0)
    return EvalResult(results, len(results), len(results), 0, None, cost * len(results), times, now, now)


def escalations():
    criterion = Criterion(requirement="Is polite.", name="polite")
    config = EscalationConfig(LLMConfig("openai/x", api_key="k"), 0.8, per_criterion={"polite": 0.9})
    assert [judge.judge_id for judge in config.judges] == ["escalation"]
    assert (config.threshold, config.threshold_for(criterion)) == (0.8, 0.9)
    assert config.threshold_for(Criterion(requirement="Is short.", name="short")) == 0.8
    raises(ValueError, EscalationConfig, LLMConfig("openai/x"), 1.5)
    raises(ValueError, EscalationConfig, [], 0.5)

    dataset = RubricDataset(prompt="Write.", rubric=Rubric([criterion]), name="escalated")
    for number, (label, *_) in enumerate(ESCALATED):
        dataset.add_item(f"text {number}", f"item {number}", [label])
    _, first, confidences, stronger = zip(*ESCALATED, strict=True)
    alone = run_of(dataset, "first", first, confidences, 0.1)
    panel = run_of(dataset, "escalation", stronger, [None] * 6, 1.0)
    curve = calibrate_escalation(dataset, alone, panel, thresholds=[0.0, 0.65, 0.8, 1.0])
    assert isinstance(curve, EscalationCurve)
    assert [point.threshold for point in curve.points] == [0.0, 0.65, 0.8, 1.0]
    for point, rate, metric, cost in zip(
        curve.points, (0, 3 / 6, 4 / 6, 1), (3 / 6, 4 / 6, 5 / 6, 4 / 6), (0.6, 3.6, 4.6, 6.6), strict=True
    ):
        near(point.escalation_rate, rate)
        near(point.metric, metric)
        near(point.cost_usd, cost)
    best = curve.best()
    assert isinstance(best, EscalationPoint)
    assert (best.threshold, best.per_criterion) == (0.8, None)
    near(best.dm_accuracy_kept, 1.0)
    near(best.dm_accuracy_escalated, 1 / 4)
    near(best.fallback_accuracy_escalated, 3 / 4)
    assert curve.best(max_escalation_rate=0.5).threshold == 0.65
    assert curve.best(tolerance=1.0).threshold == 0.0
    assert list(curve.to_dataframe()["threshold"]) == [0.0, 0.65, 0.8, 1.0]
    raises(ValueError, curve.best, max_escalation_rate=2)
    raises(ValueError, calibrate_escalation, dataset, alone, panel, thresholds=[])

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        replayed = replay_escalation(alone, panel, best)
    assert len(told) == 1  # the thresholds were calibrated on these very items
    assert replayed.get_scores() == [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    kept, escalated = replayed.item_results[0].report.report[0], replayed.item_results[2].report.report[0]
    assert (kept.escalated, escalated.escalated) == (False, True)
    assert [(vote.judge_id, vote.superseded) for vote in escalated.votes] == [("first", True), ("escalation", False)]
    assert escalated.final_verdict is UNMET
    near(replayed.total_completion_cost, 4.6)
    measured = escalation_stats(replayed, dataset)
    assert measured.threshold is None
    near(measured.metric, best.metric)
    near(measured.escalation_rate, best.escalation_rate)
    own = replay_escalation(alone, panel, 0.0, per_criterion={"polite": 1.0})
    assert own.get_scores() == [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]


VAGUE = Criterion(requirement="Is good.", name="good")
TASK = "Write a letter."
REVISER = (
    'Revise. [[reply: {"changes": "Says what is good.", '
    '"criteria": [{"name": "good", "requirement": "Greets the reader.", "weight": 10}] } ]]'
)
"""A prompt that makes the loopback server revise a rubric; judges it answers with the first verdict, MET."""


async def rubric_quality(url):
    config = LLMConfig("openai/x", temperature=0.0, api_base=url, api_key="k")
    standalone, in_context = get_standalone_meta_rubric(), get_in_context_meta_rubric()
    for meta in (standalone, in_context):
        assert isinstance(meta, Rubric)
        assert any(criterion.weight < 0 for criterion in meta.rubric)
    faults = {criterion.name for criterion in in_context.rubric if criterion.weight < 0}
    rubric = Rubric([VAGUE])
    report = await evaluate_rubric_standalone(rubric, config)
    assert isinstance(report, EnsembleEvaluationReport)
    assert len(report.report) == len(standalone.rubric)
    report = await evaluate_rubric_in_context(rubric, TASK, config, display="html", output_html_path="quality.html")
    assert {entry.final_verdict for entry in report.report} == {MET}
    near(report.score, in_context.compute_score([MET] * len(in_context.rubric)))
    assert "<html" in Path("quality.html").read_text().lower()

    settings = ImprovementConfig(
        config, config, max_iterations=2, save_artifacts=False, show_progress=False, revision_system_prompt=REVISER
    )
    assert (settings.mode, settings.strategy, settings.min_quality_score) == ("in_context", "meta_rubric", 0.95)
    assert (settings.min_agreement, settings.plateau_patience, settings.history_window) == (0.85, 2, 3)
    result = await ImprovementRunner(rubric, TASK, config=settings).run()
    assert isinstance(result, ImprovementResult)
    assert result.convergence_reason == "max_iterations"
    assert result.original_rubric is rubric
    assert [entry.iteration for entry in result.iterations] == [0, 1]
    first, second = result.iterations
    assert isinstance(first, IterationResult)
    assert (first.accepted, second.accepted, second.rejection_reason) == (True, True, None)
    near(first.quality_score, report.score)
    assert second.rubric.rubric[0].requirement == "Greets the reader."
    assert result.final_rubric in (first.rubric, second.rubric)
    assert (result.best_iteration, result.best_rubric.rubric[0].requirement) == (0, "Is good.")  # no worse, and first
    assert (second.issues_fixed, second.issues_introduced) == ([], [])
    assert {issue.criterion_name for issue in first.issues} == faults
    issue = first.issues[0]
    assert isinstance(issue, IssueDetail)
    assert (issue.is_antipattern, issue.weight < 0, bool(issue.requirement)) == (True, True, True)
    assert issue.feedback
    raises(ValueError, ImprovementRunner, rubric)

    stopped = await improve_rubric(
        rubric,
        TASK,
        config=ImprovementConfig(
            config, config, save_artifacts=False, show_progress=False, convergence_fn=lambda *_: "enough"
        ),
    )
    assert (stopped.convergence_reason, stopped.best_iteration) == ("enough", 0)
    assert stopped.best_rubric.rubric[0].requirement == "Is good."
    short = await improve_rubric(
        rubric,
        TASK,
        eval_llm=config,
        revision_llm=config,
        max_iterations=1,
        artifacts_dir="improvement",
        show_progress=False,
    )
    assert (len(short.iterations), short.convergence_reason) == (1, "max_iterations")
    assert any(Path("improvement").iterdir())


def main(url):
    literals()
    criteria()
    verdicts()
    statistics()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rubrics(folder)
        settings(folder)
    asyncio.run(one_submission(url))
    asyncio.run(prompts(url))
    asyncio.run(batches(url))
    escalations()
    asyncio.run(rubric_quality(url))
    assert inspect.ismodule(package)
    print("all checks passed")


if __name__ == "__main__":
    main(sys.argv[1])
