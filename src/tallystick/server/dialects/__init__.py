"""The dialects. A dialect translates names, bodies and error codes, and decides nothing."""
