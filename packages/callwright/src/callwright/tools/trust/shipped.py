"""The digests of the documents that come with Callwright and that somebody would otherwise have to
confirm.
"""

SHIPPED = frozenset(
    {
        "77e3ceadb1491b64be5669287e05a5d5b79151ef12a8b9be20fb4b4d2a1b3556",  # examples/desk/mcp.json
    }
)
