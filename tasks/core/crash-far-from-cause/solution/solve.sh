#!/bin/bash
set -euo pipefail
old='replace(self, code=code, name=name, base=self.code)'
new='replace(self, code=code, name=name, base=self.code, stops=list(self.stops))'
grep -qF "$old" timetable/model.py
sed -i "s/$old/$new/" timetable/model.py
python3 -B print_timetable.py data > /dev/null
