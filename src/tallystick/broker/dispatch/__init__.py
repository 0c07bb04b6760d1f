"""Which consumer of a subscription gets which entry: one active consumer, or all of them, freely or by key."""
