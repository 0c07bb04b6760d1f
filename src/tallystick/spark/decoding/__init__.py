"""Payloads → values, on the JVM or in whole Arrow batches."""
