#!/bin/bash
set -euo pipefail
wc -l < poem.txt | tr -d ' ' > count.txt
