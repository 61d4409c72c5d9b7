#!/bin/bash
set -euo pipefail
echo 8080 > port.txt
