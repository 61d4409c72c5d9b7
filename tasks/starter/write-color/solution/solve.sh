#!/bin/bash
set -euo pipefail
echo green > color.txt
