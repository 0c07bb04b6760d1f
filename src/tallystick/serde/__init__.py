"""Values ↔ framed bytes."""
