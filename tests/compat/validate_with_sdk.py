"""Validates the project of `test_aigo_project.py` with the SDK of AI GO!, so that it stays a project of that format.

The SDK is no dependency: install it into an environment of its own, and run this file there.

    python3 -m venv /tmp/sdk && /tmp/sdk/bin/pip install latticeflow-go-sdk==3.17.0
    /tmp/sdk/bin/python tests/compat/validate_with_sdk.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).parent / "aigo_project"
RUN_FILES = ("run.yaml", "define.yaml")


def main() -> int:
    """Validate every run file, which holds all other files; gives the exit code."""
    from latticeflow.go.cli.utils.run_config_processing import validate_run_config

    # the SDK reads variables while it validates; nothing is asked
    os.environ |= {"PILOT_URL": "http://127.0.0.1:1/v1/chat/completions", "PILOT_KEY": "k"}
    wrong = 0
    for name in RUN_FILES:
        try:
            validate_run_config(PROJECT / name)
        except Exception as error:  # the boundary to foreign code: whatever it says is shown
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            print(f"{name}: {cause}", file=sys.stderr)
            wrong += 1
        else:
            print(f"{name}: valid")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
