"""OpenAPI documents as tools."""
