"""The client wire over Streamable HTTP: each request its own POST, and the SDK's own transport beside it."""
