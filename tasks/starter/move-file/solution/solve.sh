#!/bin/bash
set -euo pipefail
mv invoice.txt archive/
