#!/bin/bash
set -euo pipefail
cp draft.txt final.txt
