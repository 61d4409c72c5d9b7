#!/bin/bash
set -euo pipefail
mkdir reports
