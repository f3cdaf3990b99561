"""`python -m toolwire.demo`: serve the demo tools on stdin and stdout until stdin ends."""

from toolwire.demo.server import serve

if __name__ == "__main__":
    serve()
