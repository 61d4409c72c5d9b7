#!/bin/bash
set -euo pipefail
touch done.txt
