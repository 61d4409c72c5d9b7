#!/bin/bash
set -euo pipefail
echo 15 > score.txt
