"""Turns a report of `paceline train --json` into lines for table.py: results.py NAME REPORT"""
import json
import sys

for scheme in json.load(open(sys.argv[2]))["schemes"]:
    print(json.dumps({
        "name": f"{sys.argv[1]}: {scheme['label']}",
        "seconds_per_update": scheme["seconds"] / scheme["jobs"],
        "accuracy": scheme["mean_accuracy"],
        "loss": sum(points[-1]["loss"] for points in scheme["loss"]) / len(scheme["loss"]),
    }))
