#!/bin/bash
set -euo pipefail
echo Tuesday > day.txt
