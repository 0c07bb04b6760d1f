"""Decoded rows → tables: what fits lands, what does not is in quarantine beside it, each record once."""
