"""Files on disk that several processes share: SQLite databases and JSON Lines."""
