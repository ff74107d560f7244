"""Finds the scheme that suits recorded response times, and plays it beside doing without one.

tune_profile.py [PROFILE]: a CSV, one line per round, one column per worker
"""

import sys
from pathlib import Path

import paceline

path = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "data" / "bursty-16x60.csv"
profile = paceline.load_profile(str(path))
slope = 1.1  # seconds per unit of load: all of the data would take one worker so much longer

tuning = paceline.tune(profile, slope=slope, schemes=["uncoded", "gc", "relay"], max_delay=1, jobs=50)
for tuned in tuning.schemes:
    mark = ">" if tuned.text == tuning.recommended.text else " "
    print(f"{mark} {tuned.scheme.text:<40} {tuned.seconds_per_job:.4f} +- {tuned.half_width:.4f} s per job")
print(tuning.advice)

best = tuning.recommended
played = paceline.simulate(best.text, profile, slope=slope, close=best.close)
uncoded = paceline.simulate("uncoded", profile, slope=slope)
print(f"100 jobs: {played.total_seconds:.1f} s instead of {uncoded.total_seconds:.1f} s")
