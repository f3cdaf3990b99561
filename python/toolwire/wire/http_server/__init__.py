"""The express lane of an app over HTTP: what is let in, how a posted call runs and is answered, what is left alone."""
