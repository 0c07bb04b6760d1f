"""Schemas → types of Spark."""
