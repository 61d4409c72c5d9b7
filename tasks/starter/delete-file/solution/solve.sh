#!/bin/bash
set -euo pipefail
rm junk.txt
