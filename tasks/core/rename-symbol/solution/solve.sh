#!/usr/bin/env bash
set -eu
sed -i -E 's/\bnet_total\b/amount_due/g' orders/__init__.py orders/pricing.py
sed -i -E 's/pricing\.net_total\(/pricing.amount_due(/' orders/export.py
sed -i -E 's/orders\.net_total\(/orders.amount_due(/' selftest.py
python3 -B selftest.py
