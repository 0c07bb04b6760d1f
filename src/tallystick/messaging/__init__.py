"""Producers and consumers: what they do with schemas, order and failures, on any transport."""
