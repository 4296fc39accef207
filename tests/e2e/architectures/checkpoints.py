"""All model folders that the tests serve, one generator a kind of family."""

from architectures import (
    decoders,
    encoder_decoders,
    encoders,
    interleaved_folders,
    llama_folders,
    masking_encoders,
    partial_folders,
    scaled_folders,
)

FAMILIES = (
    encoders,
    masking_encoders,
    decoders,
    encoder_decoders,
    llama_folders,
    scaled_folders,
    partial_folders,
    interleaved_folders,
)


def all_checkpoints():
    """Every folder; names are unique."""
    made = [checkpoint for family in FAMILIES for checkpoint in family.checkpoints()]
    names = [checkpoint.name for checkpoint in made]
    assert len(set(names)) == len(names), "two folders have one name"
    return made
