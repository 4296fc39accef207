"""Configurations as text, in any of the styles that YAML has, and the line on which a key of it stands."""

import json

import yaml


class Plain(str):
    """A scalar that is written as it is, without quotes, whatever YAML takes it for."""


class Quoted(str):
    """A scalar in double quotes."""


class _Writer(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def _plain(writer, text):
    return writer.represent_scalar(writer.resolve(yaml.ScalarNode, str(text), (True, False)), str(text))


_Writer.add_representer(Plain, _plain)
_Writer.add_multi_representer(str, lambda writer, text: writer.represent_str(str(text)))
_Writer.add_representer(Quoted, lambda writer, text: writer.represent_scalar("tag:yaml.org,2002:str", str(text), '"'))

STYLES = (False, None, True)


def write(config, style):
    """The text in block style (False), flow style (True), or flow style for the innermost values (None)."""
    text = yaml.dump(config, Dumper=_Writer, default_flow_style=style, sort_keys=False, allow_unicode=True)
    return text.replace(": null\n", ":\n")


def write_any(random, config):
    """The text in a style that is drawn, JSON among them."""
    if random.random() < 0.25:
        return json.dumps(config, indent=random.choice((None, 2)), ensure_ascii=random.random() < 0.5)
    return write(config, random.choice(STYLES))


def mutilate(random, data):
    """The bytes with a few of them changed, taken out, doubled or cut off."""
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(data) + 1)
        signs = (b": ", b"&a ", b"*a", b"{", b"- ", b"\t")
        piece = random.choice((b"", bytes([random.randrange(256)]), data[:at][-9:], *signs))
        data = data[:at] + piece + data[at + random.choice((0, 1, 1, 9, len(data))) :]
    return data


def line_of(text, steps, of_key=False):
    """The line, from 1, of the value behind the keys and indexes of a path, or of its last key."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for number, step in enumerate(steps):
        if isinstance(step, int):
            node = node.value[step]
            continue
        key, value = [entry for entry in node.value if entry[0].value == step][-1]
        node = key if of_key and number == len(steps) - 1 else value
    return node.start_mark.line + 1


def path_of(steps):
    """The steps as messages name them: models[0].token."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
