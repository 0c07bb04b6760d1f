"""Where the registry keeps its schemas: SQLite in a folder, or PostgreSQL."""
