"""The snippets of docs/python.md run, one after the other."""

import re

from support import SOURCE, need

need("numpy")
snippets = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/python.md").read_text(), re.DOTALL)
assert len(snippets) >= 4
names = {}
for snippet in snippets:
    exec(compile(snippet, "docs/python.md", "exec"), names)
assert abs(names["run"].parameters[0][0] - 2) < 0.2
assert names["run"].verify_error < 1e-5
