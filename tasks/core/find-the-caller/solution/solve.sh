#!/bin/bash
set -euo pipefail
python3 "$(dirname "$0")/find_caller.py"
