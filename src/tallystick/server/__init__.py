"""HTTP: three dialects over one registry, and what operators need around them."""
