#!/bin/bash
set -euo pipefail
printf 'red\nblue\n' > colors.txt
