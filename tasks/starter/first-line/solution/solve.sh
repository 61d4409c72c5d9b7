#!/bin/bash
set -euo pipefail
head -n 1 names.txt > first.txt
