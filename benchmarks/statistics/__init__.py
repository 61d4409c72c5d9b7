"""The simulations behind the statistics, repeated, beside the numbers that were published for them."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, so that the command may run beside other work
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
