#!/usr/bin/env bash
set -eu
sku=$(python3 validate.py | sed -nE 's/.*ERROR ([A-Z0-9-]+) .*/\1/p')
sheet=$(python3 validate.py | sed -nE 's/.*ERROR .*see (.*)/\1/p')
grams=$(grep "^$sku;" "$sheet" | sort -t ';' -k 4 | tail -n 1 | cut -d ';' -f 3)
sed -i "s/\"weight_g\": \"1,250\"/\"weight_g\": $grams/" catalog.json
python3 validate.py | tail -n 1
