"""`python -m harness_eval.endpoints.llama WEIGHTS HOST`: llama.cpp's server, until standard input closes."""

from __future__ import annotations

import json
import os
import sys

import xllamacpp

from harness_eval.endpoints.local_model import SAMPLING, TEMPLATE, WINDOW

_ERRORS_ONLY = 1
_CACHE_MEGABYTES = 512  # of earlier prompts, about two dozen full ones


def parameters(weights: str, host: str = "127.0.0.1") -> xllamacpp.CommonParams:
    """One thread, one request at a time, nothing from the network, and replies that depend on the request alone."""
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.chat_template = TEMPLATE.read_text(encoding="utf-8")
    params.hostnames, params.port, params.offline = [host], 0, True
    params.n_ctx, params.n_parallel, params.cache_ram_mib = WINDOW, 1, _CACHE_MEGABYTES
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # A token that is computed together with others comes out a little different, and how many are computed together
    # depends on what is still known of earlier prompts. One by one, it makes no difference what is.
    params.n_ubatch = 1
    params.sampling.temp, params.sampling.top_p = SAMPLING["temperature"], SAMPLING["top_p"]
    params.verbosity = _ERRORS_ONLY
    return params


def main() -> None:
    """Print one JSON line with the base URL once it listens, then serve."""
    server = xllamacpp.Server(parameters(*sys.argv[1:3]))
    print(json.dumps({"base_url": f"{server.listening_address}/v1"}), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # a reply under way is not waited for: nobody is there to read it


if __name__ == "__main__":
    main()
