#!/bin/bash
set -euo pipefail
echo 250 > price.txt
