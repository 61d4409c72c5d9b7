#!/bin/bash
set -euo pipefail
grep '^Turin,' cities.csv | cut -d, -f2 > country.txt
