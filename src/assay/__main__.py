"""`assay` on the command line."""

from __future__ import annotations

from assay.cli.main import main

if __name__ == "__main__":
    main()
