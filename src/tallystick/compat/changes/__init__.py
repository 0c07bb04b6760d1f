"""What changed between two schemas of one format, whether it breaks anything or not."""
