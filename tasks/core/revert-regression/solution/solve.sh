#!/bin/bash
set -euo pipefail
cd courier
culprit=$(for c in $(git rev-list --reverse v1.0..main); do
  { git show $c:courier.py; echo 'print(surcharge(2145))'; } > .git/tried.py
  echo "$c $(python3 .git/tried.py 2> /dev/null || echo broken)"
done | grep -v broken | grep -v ' 66$' | head -n 1 | cut -d' ' -f1)
echo "$culprit" > ../culprit.txt
git revert --no-edit "$culprit" > /dev/null 2>&1 || git checkout -q --ours courier.py
python3 -I - <<'PYTHON'
from pathlib import Path

path = Path("courier.py")
text = path.read_text(encoding="utf-8")
assert text.count('    parts = over // 390' + "\n") == 1
path.write_text(text.replace('    parts = over // 390' + "\n", '    parts = -(-over // 390)' + "\n"), encoding="utf-8")
PYTHON
git commit -qam "Revert \"$(git log -1 --format=%s "$culprit")\""
