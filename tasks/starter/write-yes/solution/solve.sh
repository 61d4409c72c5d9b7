#!/bin/bash
set -euo pipefail
echo yes > reply.txt
