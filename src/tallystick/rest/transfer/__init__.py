"""The content of a whole registry: read, kept in a folder, compared, and copied to another registry with its ids."""
