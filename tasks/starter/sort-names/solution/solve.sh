#!/bin/bash
set -euo pipefail
LC_ALL=C sort guests.txt > sorted.txt
