"""Random configurations, what the server must say of them, and what it must say of those that are broken."""
