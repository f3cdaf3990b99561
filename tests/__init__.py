"""The tests, mirroring the tree. They import the installed wheel, never python/toolwire."""
