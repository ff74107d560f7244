"""What the tests of the Python module share."""

import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).parents[2]


def need(name):
    """Imports a package, or skips the test program."""
    try:
        return __import__(name)
    except ImportError:
        print(f"skipped: there is no {name}")
        sys.exit(77)


class Case(unittest.TestCase):
    def assert_refused(self, text, function, *arguments, **named):
        """ValueError, with one line that holds the text."""
        with self.assertRaises(ValueError) as caught:
            function(*arguments, **named)
        self.assertIn(text, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
