"""What the suite asks of a server: its tools, resources and prompts by the names that the suite calls them by."""
