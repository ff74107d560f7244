"""Every public name of the module is in its stub, and the other way round."""

import ast
import unittest

from support import SOURCE, need

need("numpy")
import paceline  # noqa: E402


def public(names):
    return {name for name in names if not name.startswith("_")}


class Stubs(unittest.TestCase):
    def setUp(self):
        tree = ast.parse((SOURCE / "python/paceline/__init__.pyi").read_text())
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}

    def test_names_agree(self):
        self.assertEqual(public(paceline.__all__), public({*self.classes, *self.functions}))
        compiled = public(dir(paceline._paceline))
        self.assertEqual(compiled, public(paceline.__all__))

    def test_members_agree(self):
        for name, node in self.classes.items():
            stub = public(item.name for item in node.body if isinstance(item, ast.FunctionDef))
            self.assertEqual(public(vars(getattr(paceline, name))), stub, name)

    def test_arguments_agree(self):
        for name, node in self.functions.items():
            signature = getattr(paceline, name).__doc__.splitlines()[0]
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                self.assertRegex(signature, rf"\b{argument.arg}: ", name)


unittest.main()
