"""Random models, batches and rotations, and what they must come to."""
