"""What the runner itself costs beside the model: CPU time per turn and per streamed chunk, ours and others'."""
