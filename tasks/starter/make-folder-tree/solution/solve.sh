#!/bin/bash
set -euo pipefail
mkdir -p site/pages site/images
