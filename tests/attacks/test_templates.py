"""Templates written to take all memory or all time: each fails within seconds, and the process stays small."""

# ruff: noqa: E501 - a template on one line is easier to read
import json
import subprocess
import sys
import time

import pytest

from assay.errors import TemplateFailure
from assay.templates import render_text, render_value
from assay.templates.budget import MOST_SECONDS

BIG = "{% set a = 'ab' * 4000000 %}"
DOUBLING = (
    "{% set ns = namespace(x=START) %}{% for i in range(60) %}{% set ns.x = STEP %}{% endfor %}{{ ns.x | length }}"
)
HOSTILE = [
    # operators
    "{{ 'a' * 3000000000 }}",
    "{{ 3000000000 * 'a' }}",
    "{{ [0] * 3000000000 }}",
    "{{ ('a' * 9000000) * 9000000 }}",
    "{{ 9 ** 9 ** 9 }}",
    "{{ (2 ** 900000) * (2 ** 900000) }}",
    "{% set ns = namespace(x=2 ** 900000) %}{% for i in range(40) %}{% set ns.x = ns.x * ns.x %}{% endfor %}{{ 1 }}",
    "{{ '%3000000000d' % 1 }}",
    "{{ '%.3000000000f' % 1 }}",
    "{{ '%*d' % (3000000000, 1) }}",
    "{{ '%(a)3000000000d' % {'a': 1} }}",
    BIG + "{{ ('%s' * 4000000) % ((a,) * 4000000) }}",
    DOUBLING.replace("START", "'ab'").replace("STEP", "ns.x + ns.x"),
    DOUBLING.replace("START", "[1]").replace("STEP", "ns.x + ns.x"),
    DOUBLING.replace("START", "'ab'").replace("STEP", "ns.x ~ ns.x"),
    DOUBLING.replace("START", "[1]").replace("STEP", "[ns.x, ns.x]").replace("| length", ""),
    DOUBLING.replace("START", "[1]").replace("STEP", "[ns.x, ns.x]").replace("| length", "| tojson"),
    DOUBLING.replace("START", "[1]").replace("STEP", "[ns.x, ns.x]").replace("| length", "| string | length"),
    DOUBLING.replace("START", "{'a': 1}").replace("STEP", "{'a': ns.x, 'b': ns.x}").replace("| length", "~ ''"),
    "{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns }}",
    # methods
    "{{ '{:3000000000d}'.format(1) }}",
    "{{ '{:{}}'.format(1, 3000000000) }}",
    "{{ '{a:3000000000}'.format_map({'a': 1}) }}",
    BIG + "{{ ('{0}' * 3000000).format(a) }}",
    "{{ 'a'.ljust(3000000000) }}",
    "{{ 'a'.rjust(3000000000) }}",
    "{{ 'a'.center(3000000000) }}",
    "{{ 'a'.zfill(3000000000) }}",
    "{{ ('\\t' * 9000000).expandtabs(9000000) }}",
    BIG + "{{ a.replace('a', a) }}",
    BIG + "{{ a.join([a] * 100000) | length }}",
    BIG + "{{ a.translate({97: a}) | length }}",
    "{{ (5).to_bytes(3000000000, 'big') | length }}",
    BIG + "{{ a.encode().replace(b, a.encode()) }}".replace("(b,", "('a'.encode(),"),
    BIG + "{% set ns = namespace(l=[]) %}{% for i in range(5000) %}{% set ns.l = ns.l + [a.upper()] %}{% endfor %}{{ 1 }}",
    BIG + "{% set ns = namespace(l=[]) %}{% for i in range(5000) %}{% set ns.l = ns.l + [a[1:]] %}{% endfor %}{{ 1 }}",
    "{% set ns = namespace(l=[]) %}{% for i in range(99) %}{% set ns.l = ns.l + [('ab ' * 3000000).split()] %}{% endfor %}{{ 1 }}",
    # filters
    "{{ '%3000000000d' | format(1) }}",
    "{{ '%*d' | format(3000000000, 1) }}",
    BIG + "{{ a | replace('a', a) }}",
    BIG + "{{ [a] * 100000 | int | join }}",
    BIG + "{{ ([a] * 100000) | join(a) | length }}",
    BIG + "{{ ([a] * 100000) | map('upper') | list | length }}",
    BIG + "{{ ([a] * 100000) | tojson | length }}",
    BIG + "{{ ([a] * 100000) | pprint | length }}",
    BIG + "{{ ([a] * 100000) | string | length }}",
    BIG + "{{ a | regex_replace('a', a) | length }}",
    BIG + "{{ a | regex_replace('(a.*)', '\\\\1' * 1000) | length }}",
    "{{ 'a' | regex_replace('(' * 5000000, 'b') }}",
    "{{ [1] | slice(3000000000) | list | length }}",
    "{{ [1] | batch(3000000000, 0) | list | length }}",
    "{{ 'a' | center(3000000000) }}",
    "{{ ('\\n' * 9000000) | indent(9000000) | length }}",
    BIG + "{{ ('\\n' * 9000000) | indent(a) | length }}",
    BIG + "{{ a | wordwrap(1, true, a) | length }}",
    "{{ [[[[1]]]] | tojson(indent=3000000000) }}",
    "{{ 5 | round(-3000000000) }}",
    "{{ 5 | round(3000000000, 'ceil') }}",
    "{{ ([[1] * 100000] * 100000) | sum(start=[]) | length }}",
    "{{ ('[' ~ ('{\"a\":[]},' * 1000000) ~ '1]') | fromjson | length }}{{ ('[' ~ ('[],' * 3000000) ~ '1]') | fromjson | length }}",
    "{{ ('<' * 9000000) | e | e | e | e | length }}",
    "{{ ('<!---->' * 1000000) | striptags | length }}",
    "{{ ('http://a.b/' ~ 'a.b' * 3000000) | urlize | length }}",
    "{{ ('é' * 9000000) | urlencode | length }}",
    "{{ {'a': 'x' * 9000000} | xmlattr | xmlattr }}",
    # loops, macros and time
    "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
    "{% for i in range(3000000000) %}x{% endfor %}",
    "{% set x %}{% for i in range(99999) %}{{ 'a' * 9000000 }}{% endfor %}{% endset %}{{ x | length }}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}x{% endmacro %}{{ f(60) }}",
    "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "{% for i in [1] recursive %}{{ loop([1, 1]) }}{% endfor %}",
    BIG + "{% for i in range(99999) %}{% if 'ba' * 2000000 ~ 'c' in a %}x{% endif %}{% endfor %}",
    BIG + "{% for i in range(99999) %}{% if a ~ 'b' == a ~ 'c' %}x{% endif %}{% endfor %}",
    BIG + "{% set b = a ~ 'b' %}{% set c = a ~ 'c' %}{% for i in range(99999) %}{% if b == c %}x{% endif %}{% endfor %}",
    "{% for i in range(300) %}{{ range(99999) | sort(reverse=true) | list | length }}{% endfor %}",
]  # fmt: skip
"""More than 60 ways to be expensive; each must end as a failure, or as a short text after a bounded effort."""

CHILD = """
import json, re, resource, sys, time
from assay.errors import TemplateFailure
from assay.templates import check_syntax, columns_read, names_read, render_text
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
outcomes = []
for template in json.load(sys.stdin):
    begun, used = time.monotonic(), time.process_time()
    check_syntax(template), columns_read(template), names_read(template)
    checked = time.process_time() - used
    try:
        outcome = f"text of {len(render_text(template, {}))}"
    except TemplateFailure as error:
        outcome = str(error)
    # the most of this program alone: ru_maxrss also counts the process that started it
    peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024
    outcomes.append([checked, time.monotonic() - begun, peak, outcome])
json.dump(outcomes, sys.stdout)
"""


@pytest.fixture(scope="module")
def outcomes():
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(HOSTILE),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(HOSTILE, json.loads(done.stdout), strict=True))


def test_there_are_at_least_60():
    assert len(set(HOSTILE)) >= 60


@pytest.mark.parametrize("template", HOSTILE)
def test_a_hostile_template_stays_small_and_ends(outcomes, template):
    checked, seconds, peak_mb, outcome = outcomes[template]
    assert checked < 1, "checking must compute nothing"
    assert seconds < 4 * MOST_SECONDS, "a busy machine needs some more"
    assert peak_mb < 500, outcome


def test_checking_a_folder_of_hostile_templates_computes_nothing(project):
    for i, template in enumerate(HOSTILE):
        scorer = {"type": "string_equals", "ground_truth": template, "value": template}
        definition = {"dataset": {"source": {"type": "local", "file_path": "rows.csv"}}, "scorers": [scorer]}
        project.write(f"t{i}.yaml", json.dumps({"key": f"t{i}", "display_name": "T", "definition": definition}))
    project.write("rows.csv", "a\n1\n")
    outcome, peak_mb = project.peak_mb("check", ".")
    assert "files checked: no problems" in outcome.out, outcome.err
    assert peak_mb < 500


def test_what_is_refused_says_why():
    for template, words in (
        ("{{ 'a' * 3000000000 }}", "* would give more than 10,000,000 characters"),
        ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "more than 1,000,000 steps"),
        ("{{ '%3000000000d' % 1 }}", "a width would give more than"),
    ):
        with pytest.raises(TemplateFailure) as refused:
            render_text(template, {})
        assert words in str(refused.value)


def test_a_rendering_that_takes_too_long_is_ended_and_the_next_one_works(monkeypatch):
    monkeypatch.setattr("assay.templates.budget.MOST_SECONDS", 0.3)
    slow = (
        BIG
        + "{% set b = a ~ 'b' %}{% set c = a ~ 'c' %}{% for i in range(99999) %}{% if b == c %}x{% endif %}{% endfor %}"
    )
    begun = time.monotonic()
    with pytest.raises(TemplateFailure, match="the template takes more than"):
        render_text(slow, {})
    assert time.monotonic() - begun < 3
    for _ in range(1000):
        assert render_text("{{ 'a' ~ n }}", {"n": 1}) == "a1"


def test_a_forked_process_renders_and_is_watched():
    child = (
        "import os, sys; from assay.templates import render_text, budget; budget.MOST_SECONDS = 0.3\n"
        "assert render_text('{{ 1 ~ 1 }}', {}) == '11'\n"
        "budget._lock.acquire()\n"
        "if os.fork():\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
        "try: render_text(sys.argv[1], {})\n"
        "except Exception as error: sys.exit(0 if 'takes more than' in str(error) else 1)\n"
        "sys.exit(2)\n"
    )
    slow = (
        BIG
        + "{% set b = a ~ 'b' %}{% set c = a ~ 'c' %}{% for i in range(99999) %}{% if b == c %}x{% endif %}{% endfor %}"
    )
    assert subprocess.run([sys.executable, "-c", child, slow], timeout=30, check=False).returncode == 0


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ 'ab' * 3 + 'c' }}", "abababc"),
        ("{{ '%5.2f|%-4s|' % (1.234, 'x') }}", " 1.23|x   |"),
        ("{{ '{:>6}|{a}'.format('x', a=[1, 2]) }}", "     x|[1, 2]"),
        ("{{ ', '.join(['a', 'b']) }}", "a, b"),
        ("{{ [3, 1, 2] | sort | join('-') }}", "1-2-3"),
        ("{{ [[1], [2]] | sum(start=[]) }}", [1, 2]),
        ("{{ [1.5, 2] | sum }}", 3.5),
        ("{{ 2.345 | round(1) }}", 2.3),
        ("{{ 'abcdef'[1:4] }}", "bcd"),
        ("{{ [1, 2, 3][::-1] }}", [3, 2, 1]),
        ("{{ 'a-b' | replace('-', '--') }}", "a--b"),
        ("{{ {'a': [1]} | tojson(indent=2) }}", '{\n  "a": [\n    1\n  ]\n}'),
        ("{% for x in [1, 2, 3] | select('odd') %}{{ loop.index }}:{{ x }} {% endfor %}", "1:1 2:3 "),
        ("{% for x in 'ab' %}{{ loop.length }}{{ x }}{{ loop.last }} {% endfor %}", "2aFalse 2bTrue "),
        ("{% for x in {'a': 1} %}{{ x }}{% else %}none{% endfor %}", "a"),
        ("{% macro f(n) %}<{{ n }}>{% endmacro %}{{ f(1) ~ f(2) }}", "<1><2>"),
        ("{{ range(1000) | batch(10) | list | length }}", 100),
        ("{{ 'x' | center(5) }}", "  x  "),
    ],
)
def test_ordinary_templates_give_what_they_always_gave(template, value):
    assert render_value(template, {}) == value
