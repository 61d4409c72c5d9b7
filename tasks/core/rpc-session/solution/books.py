"""The books, and what can be done with them."""

import copy


class Problem(Exception):
    """Why something cannot be done."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def text(params, name):
    """A parameter that is a string."""
    if not isinstance(params.get(name), str):
        raise Problem(-32602, f"{name} must be a string")
    return params[name]


class Books:
    """All books by title, and what they were before the open transaction."""

    def __init__(self):
        self.books = {}
        self.before = None

    def find(self, params):
        """The book that the parameters name."""
        title = text(params, "title")
        if title not in self.books:
            raise Problem(-32001, f"no book {title}")
        return self.books[title]

    def put(self, params):
        """Add a book, or change its pages."""
        title = text(params, "title")
        pages = params.get("pages")
        if not isinstance(pages, int) or isinstance(pages, bool):
            raise Problem(-32602, "pages must be an integer")
        book = self.books.setdefault(title, {"title": title, "tags": []})
        book["pages"] = pages
        return len(self.books)

    def tag(self, params):
        """Add a tag to a book."""
        book, tag = self.find(params), text(params, "tag")
        if tag not in book["tags"]:
            book["tags"].append(tag)
        return list(book["tags"])

    def get(self, params):
        """One book."""
        return copy.deepcopy(self.find(params))

    def drop(self, params):
        """Remove a book."""
        del self.books[self.find(params)["title"]]
        return len(self.books)

    def list(self, params):
        """All titles."""
        return list(self.books)

    def begin(self, params):
        """Open a transaction."""
        if self.before is not None:
            raise Problem(-32002, "a transaction is open")
        self.before = copy.deepcopy(self.books)

    def commit(self, params):
        """Keep what was done."""
        if self.before is None:
            raise Problem(-32002, "no transaction is open")
        self.before = None
        return len(self.books)

    def rollback(self, params):
        """Undo what was done."""
        if self.before is None:
            raise Problem(-32002, "no transaction is open")
        self.books, self.before = self.before, None
        return len(self.books)


METHODS = ("put", "tag", "get", "drop", "list", "begin", "commit", "rollback")
