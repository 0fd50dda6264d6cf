"""The targets that programs are compiled to: a descriptor for each, cheap to import, and their registry."""
