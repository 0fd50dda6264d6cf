"""Pages for readers: HTML that needs nothing beside itself, and charts in it."""
