"""The proxy's input and output: ASGI application, connections, worker process, pages."""
