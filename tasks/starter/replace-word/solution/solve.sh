#!/bin/bash
set -euo pipefail
sed -i 's/Monday/Friday/' letter.txt
