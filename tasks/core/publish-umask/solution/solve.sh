#!/bin/bash
set -euo pipefail
(umask 027; . bin/settings.sh; python3 bin/publish.py)
find archive -type d -exec chmod 750 {} +
find archive -type f -perm -u=x -exec chmod 750 {} +
find archive -type f ! -perm -u=x -exec chmod 640 {} +
find archive -type d -name private -exec chmod -R go= {} +
