#!/bin/bash
set -euo pipefail
grep -l lighthouse a.txt b.txt c.txt > found.txt
