#!/bin/bash
set -euo pipefail
echo 1987 > year.txt
