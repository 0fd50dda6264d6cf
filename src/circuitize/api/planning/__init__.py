"""Planning: the ways to build a program that no other way beats in all objectives, or the reason why no way exists."""
