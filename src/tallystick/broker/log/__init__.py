"""The durable log: entries, cursors and the catalogue of the broker, in one SQLite database of the data folder."""
