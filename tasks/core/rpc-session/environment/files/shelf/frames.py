"""Messages as frames: a header, an empty line, a body."""


def read_frame(stream):
    """The next body as bytes, None at the end of the input."""
    line = stream.readline()
    if not line:
        return None
    length = int(line.decode("ascii").removeprefix("Content-Length: "))
    stream.readline()
    return stream.read(length)


def write_frame(stream, text):
    """Send one body."""
    stream.write(f"Content-Length: {len(text)}\r\n\r\n{text}".encode())
    stream.flush()
