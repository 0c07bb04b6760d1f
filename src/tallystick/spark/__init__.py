"""Pipelines on Spark: topics as DataFrames, every record by its own schema."""
