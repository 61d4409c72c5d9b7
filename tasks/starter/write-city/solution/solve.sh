#!/bin/bash
set -euo pipefail
echo Lisbon > city.txt
