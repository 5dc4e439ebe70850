"""The digests of the files that come with Callwright and that somebody would otherwise have to confirm."""

SHIPPED = frozenset(
    {
        "57fd59c2a0bfab7f1bd8a063cb93fee56ccbcbe5261ecfa03e244301aa202f7e",  # examples/desk/mcp.json
    }
)
