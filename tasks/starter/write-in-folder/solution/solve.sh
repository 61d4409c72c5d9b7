#!/bin/bash
set -euo pipefail
mkdir config && echo 8080 > config/port.txt
