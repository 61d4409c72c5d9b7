#!/usr/bin/env bash
here=$(cd "$(dirname "$0")" && pwd)
out=${VERIFIER_DIR:-/logs/verifier}
mkdir -p "$out"
python3 -EsB "$here/score.py" "$out"
