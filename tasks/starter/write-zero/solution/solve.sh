#!/bin/bash
set -euo pipefail
echo 0 > counter.txt
