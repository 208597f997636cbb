"""Which snippets get a process for every sample: those that may run the text of a sample or reach their worker."""

from __future__ import annotations

import pytest

from assay.spec.isolation import first_risk, isolation_of

RISKY = [
    "exec(x)", "eval(x)", "compile(x, 'f', 'exec')", "__import__(x)", "import importlib", "import pickle",
    "from marshal import loads", "import ctypes", "import gc", "import inspect", "import sys; sys._getframe()",
    "import sys; sys.modules", "from sys import _getframe", "import sys as s", "import pandas", "from . import other",
    "x.__globals__", "getattr(x, y)", "getattr(x, '__class__')", "import numpy\nnumpy.load(x, allow_pickle=True)", "(",
]  # fmt: skip
HARMLESS = [
    "import re\nre.compile(x)", "import json, math", "from os.path import join",
    "import sys\nprint(x, file=sys.stderr)",
    "import numpy as np\nnp.mean(x)", "getattr(x, 'name', None)", "from latticeflow.core.dtypes import SampleScore",
    "from urllib.parse import urlparse", "model.eval()", "x.compile()",
]  # fmt: skip


@pytest.mark.parametrize("code", RISKY)
def test_code_that_may_run_text_gets_a_process_for_every_sample(code):
    assert isolation_of(code, None) == "process"


@pytest.mark.parametrize("code", HARMLESS)
def test_other_code_shares_one(code):
    assert isolation_of(code, None) == "batch"


@pytest.mark.parametrize("isolation", ["process", "batch"])
def test_a_setting_decides(isolation):
    assert isolation_of("exec(x)", isolation) == isolation_of("1", isolation) == isolation


def test_the_first_risky_line_is_named():
    risk = first_risk("import re\n\nx = eval(y)\nexec(y)")
    assert (risk.line, risk.what) == (3, "uses eval")
