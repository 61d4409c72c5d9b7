#!/bin/bash
set -euo pipefail
new=4.8.0
echo "$new" > VERSION
sed -i "s/^__version__ = .*/__version__ = \"$new\"/" tidemark/__init__.py
sed -i "/gnuplot/! s/4\.7\.2/$new/g" docs/install.md
sed -i "s/^## Unreleased\$/## Unreleased\n\n## $new (2031-05-06)/" CHANGELOG.md
sed -i "s/^- \[ \]/- [x]/; s/^Last release: .*/Last release: $new/" RELEASING.md
python3 check_release.py
