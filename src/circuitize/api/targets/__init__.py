"""What programs are compiled to: a descriptor for each target, light to import, and the registry of them."""
