"""The samples of a run with their filters, and one sample with everything that is known of it."""

from __future__ import annotations

from typing import Any

import orjson

from assay.analysis.sample_filter import COLUMN, SHOWS
from assay.api import labels, viewing
from assay.api.viewing import RunRecord, Sample, SampleFilter, SampleIndex
from assay.report.html.comparison_section import question_of
from assay.report.html.sample_section import sample_section, verdict_of
from assay.results.document import sample_document
from assay.view.address import FACET, Asked, query_string, samples_command
from assay.view.site import IN_THREAD, Elsewhere, Missing, Page, Site

SAMPLES_SHOWN = 50
FACETS_SHOWN = 8
"""Fields that can be chosen from lists; a condition reaches all of them."""
SORTS_SHOWN = 40
CALLS_SHOWN = 30
SHOW_WORDS = {
    "failed": "failed",
    "wrong": "wrong",
    "invalid": "INVALID reply",
    "cut": "cut off",
    "excluded": "excluded",
    "divided": "judges disagree",
    "answered": "answered",
}


def samples_page(site: Site, asked: Asked) -> Page | Elsewhere:
    """The samples that match the filters in the address, page by page."""
    record = site.record(asked.parts["run"])
    which, problem = asked.sample_filter()
    pairs = asked.filter_pairs()
    after = asked.number("after")
    if any(not value for _, value in asked.pairs):
        # a form sends its empty fields too: the address without them is the one to share
        return Elsewhere(location=site.url("runs", record.id, "samples") + query_string([*pairs, ("after", after)]))
    # a small run is indexed while one waits; of a large one the first page comes at once
    index = site.index(record, patience_s=2.0 if viewing.size_of(record) <= IN_THREAD else 0.1)
    listed = viewing.list_samples(site.store, record, index, which, after=after, size=SAMPLES_SHOWN)
    here = site.url("runs", record.id, "samples")
    command, exact = samples_command(record.id, which)
    return site.page(
        "samples.html",
        title="Samples",
        current="samples",
        record=record,
        which=which,
        problem=problem or listed.problem,
        rows=[_line(site, record, sample, pairs) for sample in listed.samples],
        listed=listed,
        size=viewing.size_of(record),
        building=record.summary is not None and index is None,
        progress=viewing.index_progress(site.store, record) if index is None else 0,
        form=_form(asked, index),
        next=None if listed.after is None else here + query_string([*pairs, ("after", listed.after)]),
        first=here + query_string(pairs) if after is not None else None,
        clear=here if pairs else None,
        here=here,
        pairs=pairs,
        targets=list(labels.label_targets(site.store, record).values()) if site.annotator and record.summary else [],
        commands=[command],
        exact=exact,
        after_s=2 if index is None and record.summary is not None and not which.is_empty else None,
    )


def _line(site: Site, record: RunRecord, sample: Sample, pairs: Any) -> dict[str, Any]:
    verdict, tone = verdict_of(sample, record.spec)
    return {
        "href": site.url("runs", record.id, "samples", sample.position) + query_string(pairs),
        "id": sample.sample_id,
        "trial": sample.trial if record.spec.num_trials > 1 else None,
        "question": question_of(sample.sample),
        "answer": sample.output,
        "verdict": verdict or "no score",
        "tone": tone,
    }


def _form(asked: Asked, index: SampleIndex | None) -> dict[str, Any]:
    """The fields of the form above the list, with what is chosen."""
    chosen = {name.removeprefix(FACET): value for name, value in asked.pairs if name.startswith(FACET)}
    shows: list[tuple[str, str, int | None]] = [(name, SHOW_WORDS[name], None) for name in SHOWS]
    facets: list[dict[str, Any]] = []
    sorts: list[str] = []
    kinds: list[tuple[str, int]] = []
    if index is not None:
        shows = [(name, SHOW_WORDS[name], index.flags[name]) for name in SHOWS if index.flags[name]]
        kinds = [(label, n) for label, n in index.facets.get("failure/kind", ())]
        candidates = sorted(
            (address for address in index.facets if address not in ("failure/kind",)),
            key=lambda address: (address not in chosen, not address.startswith(f"{COLUMN}/"), address),
        )
        useful = [a for a in candidates if a in chosen or len(index.facets[a]) > 1]
        facets = [
            {
                "name": FACET + address,
                "address": address,
                "label": address.rpartition("/")[2],
                "options": sorted(index.facets[address], key=lambda option: option[0]),
                "chosen": chosen.get(address, ""),
            }
            for address in useful[:FACETS_SHOWN]
        ]
        sorts = [a for a in index.numbers if index.numbers[a].low < index.numbers[a].high][:SORTS_SHOWN]
    if not any(name == asked.text("show") for name, *_ in shows) and asked.text("show") in SHOW_WORDS:
        shows.append((asked.text("show"), SHOW_WORDS[asked.text("show")], 0))
    sort = asked.text("sort")
    if sort and sort.removeprefix("-") not in sorts:
        sorts.append(sort.removeprefix("-"))
    return {
        "q": asked.text("q"),
        "show": asked.text("show"),
        "shows": shows,
        "kind": asked.text("kind"),
        "kinds": kinds,
        "where": asked.texts("where"),
        "sort": sort,
        "sorts": sorts,
        "facets": facets,
        "others": [
            (FACET + name, value) for name, value in chosen.items() if not any(f["address"] == name for f in facets)
        ],
    }


def _sample(site: Site, record: RunRecord, asked: Asked) -> Sample:
    position = asked.parts["position"]
    if position.isascii() and position.isdigit() and len(position) < 12:
        samples = viewing.samples_of(site.store, record, [int(position)], votes=True)
        if samples:
            return samples[0]
    raise Missing(f"Run {record.id} has no sample at position {position}.")


def sample_page(site: Site, asked: Asked) -> Page:
    """One sample: conversation, answer, every score and vote, failures, the raw requests and replies."""
    record = site.record(asked.parts["run"])
    sample = _sample(site, record, asked)
    which, _ = asked.sample_filter()
    pairs = asked.filter_pairs()
    index = site.index(record)
    walk = _walk(site, record, index, which, pairs, sample.position)
    section = sample_section(sample, record.spec)
    calls = viewing.calls_of(site.store, sample)
    others = []
    if record.spec.num_trials > 1 and index is not None:
        others = [
            (position, site.url("runs", record.id, "samples", position) + query_string(pairs))
            for position in index.find_ids([sample.sample_id]).get(sample.sample_id, [])
        ]
    return site.page(
        "sample.html",
        title=f"Sample {sample.sample_id}",
        current="samples",
        record=record,
        sample=section,
        trials=others,
        walk=walk,
        back=site.url("runs", record.id, "samples") + query_string(pairs),
        download=site.url("runs", record.id, "samples", sample.position, "sample.json"),
        calls=calls[:CALLS_SHOWN],
        calls_more=max(len(calls) - CALLS_SHOWN, 0),
        commands=[f"assay samples {record.id} --id {sample.sample_id}"],
        cache="private, max-age=30" if record.summary is not None else "no-store",
    )


def _walk(
    site: Site, record: RunRecord, index: SampleIndex | None, which: SampleFilter, pairs: Any, position: int
) -> dict[str, Any]:
    """The samples before and after one in the list that the address filters."""

    def href(at: int | None) -> str | None:
        return None if at is None else site.url("runs", record.id, "samples", at) + query_string(pairs)

    if index is not None:
        try:
            before, after, place, of = viewing.neighbours(index, which, position)
        except viewing.NotIndexed:
            return {"before": None, "after": None, "words": ""}
        return {"before": href(before), "after": href(after), "words": f"{place:,} of {of:,}" if place else ""}
    listed = viewing.list_samples(site.store, record, None, which, after=position, size=1)
    after = listed.samples[0].position if listed.samples else None
    return {"before": None, "after": href(after), "words": ""}


def sample_download(site: Site, asked: Asked) -> Page:
    """A sample as JSON, whole: what `assay samples --id ID --json` prints, with its requests and replies."""
    record = site.record(asked.parts["run"])
    sample = _sample(site, record, asked)
    document = sample_document(sample)
    document["requests"] = [
        {name: getattr(call, name) for name in call.__slots__} for call in viewing.calls_of(site.store, sample)
    ]
    body = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str)
    return Page(body=body.decode())
