#!/bin/bash
set -euo pipefail
cp "$(dirname "$0")"/{frames,books,server}.py shelf/
python3 -B try_session.py
