#!/bin/bash
set -euo pipefail
cp "$(dirname "$0")/pack.py" pack.py
python3 pack.py demo dist/demo.tar.gz
cd dist
sha256sum demo.tar.gz > demo.tar.gz.sha256
