#!/bin/bash
set -euo pipefail
sed -i 's/"firkin": 40.91418,/"firkin": 40.91481,/' units/volume.py
python3 run_checks.py
