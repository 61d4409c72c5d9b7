#!/bin/bash
set -euo pipefail
mkdir music
