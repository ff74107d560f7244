"""Makes the Markdown table of run.sh from lines of JSON, one per run: table.py RESULTS"""
import json
import statistics
import sys

runs = {}
for line in open(sys.argv[1]):
    run = json.loads(line)
    runs.setdefault(run["name"], []).append(run)

print("| trainer | s per update, median | lowest ... highest | accuracy, % | last loss |")
print("|---|---|---|---|---|")
for name, of_name in runs.items():
    seconds = [run["seconds_per_update"] for run in of_name]
    accuracy = [100 * run["accuracy"] for run in of_name]
    loss = [run["loss"] for run in of_name]
    print(f"| {name} | {statistics.median(seconds):.4f} | {min(seconds):.4f} ... {max(seconds):.4f} "
          f"| {statistics.median(accuracy):.2f} | {statistics.median(loss):.4f} |")
