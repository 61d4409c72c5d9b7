#!/bin/bash
set -euo pipefail
echo milk >> shopping.txt
