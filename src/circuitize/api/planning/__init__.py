"""Planning: the ways to build a program that no other way beats in everything asked about, or why there is none."""
