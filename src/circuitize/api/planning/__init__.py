"""Planning: the ways to build a program of which no other is better in all that is asked, or why there is none."""
