"""Messages as frames: a header, an empty line, a body."""


def read_frame(stream):
    """The next body as bytes, None at the end of the input."""
    length = 0
    while line := stream.readline():
        name, _, value = line.decode("latin-1").partition(":")
        if name.strip().lower() == "content-length":
            length = int(value)
        if not line.strip():
            return stream.read(length)
    return None


def write_frame(stream, text):
    """Send one body."""
    body = text.encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()
