#!/bin/bash
set -euo pipefail
echo otter > animal.txt
