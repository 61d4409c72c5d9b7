#!/usr/bin/env bash
set -eu
set -a
. env/shared.env
. env/region/south.env
. env/stage/live.env
. env/machine.env
. env/secret.env
. env/limits.env
set +a
id=$(python3 -B bin/deploy.py plan | sed -n 's/^plan id //p')
python3 -B bin/deploy.py apply "$id"
python3 -B bin/deploy.py verify | sed -n 's/^verified; receipt //p' > out/receipt.txt
cat out/receipt.txt
