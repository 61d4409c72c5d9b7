#!/bin/bash
set -euo pipefail
cat part1.txt part2.txt > whole.txt
