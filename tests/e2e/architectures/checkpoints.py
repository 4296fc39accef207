"""All model folders that the tests serve, one generator a kind of family."""

from architectures import decoders, encoder_decoders, encoders, rotary_folders

FAMILIES = (encoders, decoders, encoder_decoders, rotary_folders)


def all_checkpoints():
    """Every folder; names are unique."""
    made = [checkpoint for family in FAMILIES for checkpoint in family.checkpoints()]
    names = [checkpoint.name for checkpoint in made]
    assert len(set(names)) == len(names), "two folders have one name"
    return made
