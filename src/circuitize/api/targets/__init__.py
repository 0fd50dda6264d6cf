"""The targets to which programs are compiled: a descriptor for each, which is cheap to import, and the registry of
descriptors.
"""
