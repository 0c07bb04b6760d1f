"""The mesh: half of the records are validated where they come in, the other half where they leave."""
