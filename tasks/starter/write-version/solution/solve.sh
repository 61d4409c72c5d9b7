#!/bin/bash
set -euo pipefail
echo 3.1 > version.txt
