#!/usr/bin/env bash
# Pin everything with hashes, for all platforms and Pythons: base.txt to use, dev.txt to develop.
set -euo pipefail
cd "$(dirname "$0")/.."
uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command requirements/compile.sh pyproject.toml -o requirements/base.txt
uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command requirements/compile.sh --extra dev pyproject.toml -o requirements/dev.txt
