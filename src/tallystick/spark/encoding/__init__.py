"""Values → payloads, on the JVM or in whole Arrow batches."""
