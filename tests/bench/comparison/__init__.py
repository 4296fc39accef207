"""What compare.py is made of: the servers, what is measured, and how it is told."""
