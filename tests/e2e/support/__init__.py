"""What the end-to-end tests share: a real server process, generated stubs, bytes by hand, numpy references."""
