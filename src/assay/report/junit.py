"""A gate as JUnit XML, which every continuous integration shows."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from assay.report.gate import counts_of, gate_notes, reason_of
from assay.results.gate import Check, Gate

# XML 1.0 has no place for these, not even escaped
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(gate: Gate) -> str:
    """A test suite with one case a rule.

    A rule that does not hold is a failure; its message says why. The output of a case counts the samples behind it.
    """
    report = gate.report
    name = f"assay gate: {report.task}" + (f" ({report.model})" if report.model else "")
    cases = "".join(_case(check, report.task) for check in gate.checks)
    lines = "\n".join(f"note: {note}" for note in gate_notes(gate))
    notes = f"    <system-out>{_text(lines)}</system-out>\n" if lines else ""
    counts = f'tests="{len(gate.checks)}" failures="{len(gate.failed)}" errors="0" skipped="0"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n"
        f"  <testsuite name={_attribute(name)} {counts}>\n"
        f'    <properties>\n      <property name="run" value={_attribute(report.run)}/>\n    </properties>\n'
        f"{cases}{notes}  </testsuite>\n</testsuites>\n"
    )


def _case(check: Check, task: str) -> str:
    head = f"    <testcase classname={_attribute(task)} name={_attribute(check.rule)}"
    failure = "" if check.passed else f"      <failure message={_attribute(reason_of(check))}/>\n"
    counts = f"      <system-out>{_text(counts_of(check))}</system-out>\n"
    return f"{head}>\n{failure}{counts}    </testcase>\n"


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", text))
