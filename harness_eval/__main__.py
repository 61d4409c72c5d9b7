"""`python -m harness_eval` is `harness-eval`."""

from harness_eval.cli import main

if __name__ == "__main__":
    main()
