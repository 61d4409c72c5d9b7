#!/bin/bash
set -euo pipefail
echo north > left.txt; echo south > right.txt
