#!/bin/bash
set -euo pipefail
echo good morning > note.txt
