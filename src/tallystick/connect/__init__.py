"""A URL and credentials → a connected client."""
