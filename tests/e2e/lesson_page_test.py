"""docs/lesson.md: its commands print what it says, and draw the pictures that it shows.

lesson_page_test.py --write: writes what they print and draw into the page and its pictures.
"""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from support.console_page import run, steps_of, with_outputs
from support.server_process import ServerProcess, binary

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_PAGE = _ROOT / "docs" / "lesson.md"
_CONFIG = _ROOT / "docs" / "examples" / "guide.yaml"
_PICTURES = _ROOT / "docs" / "pictures"


def run_page(folder):
    """Runs the page's commands in a folder that has its docs/pictures. Returns what they print."""
    (folder / "docs" / "pictures").mkdir(parents=True)
    binaries = pathlib.Path(binary("embdctl")).parent
    with ServerProcess("--config", str(_CONFIG)) as server:
        return run(steps_of(_PAGE.read_text(encoding="utf-8")), folder, binaries, server.address)


class LessonPageTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.page = _PAGE.read_text(encoding="utf-8")
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.outputs = run_page(folder)
        cls.drawn = {file.name: file.read_bytes() for file in (folder / "docs" / "pictures").iterdir()}

    def test_commands_print_what_the_page_says(self):
        steps = steps_of(self.page)
        self.assertGreater(len(steps), 20)
        for step, printed in zip(steps, self.outputs, strict=True):
            with self.subTest(step.command):
                self.assertEqual(printed, step.printed)

    def test_pictures_are_those_that_the_commands_draw(self):
        self.assertEqual(sorted(self.drawn), sorted(file.name for file in _PICTURES.iterdir()))
        for name, picture in self.drawn.items():
            with self.subTest(name):
                self.assertEqual((_PICTURES / name).read_bytes(), picture)

    def test_every_picture_is_shown_with_a_description(self):
        shown = re.findall(r"^!\[(.{20,})\]\(pictures/(.*)\)$", self.page, re.MULTILINE)

        self.assertEqual(sorted(name for _, name in shown), sorted(self.drawn))


def write_page():
    with tempfile.TemporaryDirectory() as folder:
        outputs = run_page(pathlib.Path(folder))
        page = with_outputs(_PAGE.read_text(encoding="utf-8"), outputs)
        _PAGE.write_text(page, encoding="utf-8")
        shutil.rmtree(_PICTURES, ignore_errors=True)
        shutil.copytree(pathlib.Path(folder) / "docs" / "pictures", _PICTURES)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write_page()
    else:
        unittest.main()
