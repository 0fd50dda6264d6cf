"""Pages for people to read: HTML files that need no other files, with charts in them."""
