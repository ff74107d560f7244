#!/usr/bin/env python3
"""Runs every command of the README and of docs/, so that none of them is out of date.

    commands_test.py PROGRAM MAKE_PROFILE SOURCE_DIR [DOCUMENT...]

A document's commands run in the order in which they stand there, in one folder, as a reader would type them. Runs are
made short: a `paceline` before the real one adds options that override what was typed, which changes how long a command
takes and not whether it is understood. Recorded profiles that a document names but the repository does not hold are
drawn from a delay model. Commands with "..." in them, and those for a Slurm cluster, are not run.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SHORTER = {
    "train": "--updates 2",
    "probe": "--rounds 6",
    "simulate": "--jobs 12",
    "compare": "--jobs 12 --seeds 1 --jobs-per-round 1",
    "tune": "--jobs 12",
}
RECORDED = ["long-load0.000.csv", "mid-load0.000.csv", "sydney-load0.000.csv", "neighbours.csv"]
BEGINS = re.compile(r"""(\$ )?([A-Z_]+=\S+ )?(paceline|build/release/paceline|mpirun|for \w+ in) |[A-Z]+=(\S+|"[^"]*")$""")
SHOWS = re.compile(r"\$ cat (\S+)$")
NOT_RUN = re.compile(r"\.\.\.|\bsrun\b|\bsbatch\b")


def statements(text):
    """(line number, command) of all commands in code blocks; continued lines and loops are one. A file that a document
    shows (`$ cat run.toml`) is written."""
    found, fenced, open_lines, begin, shown = [], False, [], 0, None
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.startswith("```")
        if shown is not None and (fence or line.startswith("$ ")):
            found.append((begin, f"cat > {shown} <<'END'\n" + "\n".join(open_lines) + "\nEND"))
            open_lines, shown = [], None
        if fence:
            fenced = not fenced
            continue
        code = line if fenced else line[4:] if line.startswith("    ") else None
        if code is None:
            continue
        if shown is not None:
            open_lines.append(code)
            continue
        if not open_lines:
            begin = number
            if SHOWS.match(code):
                shown = SHOWS.match(code).group(1)
                continue
            if not BEGINS.match(code):
                continue
        open_lines.append(code.removeprefix("$ ").strip())
        loop = open_lines[0].startswith("for ") and open_lines[-1] != "done"
        if not code.endswith("\\") and not loop:
            found.append((begin, "\n".join(open_lines)))
            open_lines = []
    return found


def write_program(folder, program):
    """A `paceline` that shortens what the real one does, found by all names that documents use."""
    cases = "\n".join(f"  {name}) more=({options}) ;;" for name, options in SHORTER.items())
    os.makedirs(f"{folder}/build/release")
    path = f"{folder}/build/release/paceline"
    with open(path, "w") as file:
        file.write(f"""#!/usr/bin/env bash
more=()
case "$1" in
{cases}
esac
case " $* " in
  *" --resume "*) more=(--updates 4) ;;  # goes on from a shortened run
  *" --published "*) more=() ;;
esac
exec {program} "$@" "${{more[@]}}"
""")
    os.chmod(path, 0o755)
    os.symlink(path, f"{folder}/paceline")


def run_document(document, commands, program, make_profile, source):
    """The failures, as lines."""
    with tempfile.TemporaryDirectory() as folder:
        write_program(folder, program)
        os.symlink(f"{source}/data", f"{folder}/data")
        model = "bursty:base=2,noise=0.05,slow=4,bad=0.05,good=0.4,spread=0.1"
        for name, workers in [(name, "256") for name in RECORDED] + [("delays.csv", "64")]:
            with open(f"{folder}/{name}", "w") as file:
                subprocess.run([make_profile, model, workers, "24", "1"], stdout=file, check=True)
        script = ["set -a", "failed() { echo \"FAILED $1: exit code $2: $(tail -n 2 err | tr '\\n' ' ')\"; }"]
        for number, command in commands:
            if command.startswith("for "):  # every turn must succeed, not only the last
                command = f"bash -e -c {shlex.quote(command)}"
            # In this shell, so that a variable is there for the commands that follow.
            script.append(f"{{\n{command}\n}} > out 2> err < /dev/null || failed {document}:{number} $?")
        path = f"{folder}:{os.environ['PATH']}"
        environment = dict(os.environ, PATH=path, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1")
        done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE, timeout=500)
        return [line for line in done.stdout.splitlines() if line.startswith("FAILED")]


def main():
    program, make_profile, source, *chosen = sys.argv[1:]
    program, make_profile, source = map(os.path.abspath, (program, make_profile, source))
    documents = chosen or ["README.md"] + sorted(
        f"docs/{name}" for name in os.listdir(f"{source}/docs") if name.endswith(".md"))
    total, failures, left = 0, [], []
    for document in documents:
        with open(f"{source}/{document}") as file:
            found = statements(file.read())
        mpi = shutil.which("mpirun") is not None
        runs = [(n, c) for n, c in found if not NOT_RUN.search(c) and (mpi or not c.startswith("mpirun"))]
        left += [f"{document}:{n}" for n, c in found if (n, c) not in runs]
        total += len(runs)
        if runs:
            failures += run_document(document, runs, program, make_profile, source)
    print(f"{total} commands, {len(failures)} failures; not run: {', '.join(left) or 'none'}")
    print("\n".join(failures))
    if total == 0:
        sys.exit("no command was found: the documents or this test have changed")
    sys.exit(1 if failures else 0)


main()
