"""Schemes, simulations and tuning."""

import signal
import subprocess
import sys
import time
import unittest

from support import SOURCE, Case, need

np = need("numpy")
import paceline  # noqa: E402

PROFILE = paceline.load_profile(str(SOURCE / "data/bursty-16x60.csv"))
MODEL = "bursty:base=0.1,slow=5,bad=0.05,good=0.4"


class Simulations(Case):
    def test_uncoded_waits_for_the_slowest(self):
        played = paceline.simulate("uncoded", PROFILE, slope=1.6, jobs=60)
        expected = PROFILE.max(axis=1) + 1.6 / 16
        self.assertEqual(PROFILE.shape, (60, 16))
        np.testing.assert_allclose(played.closed - played.opened, expected, rtol=1e-9)
        np.testing.assert_allclose(played.response_times, PROFILE + 0.1, rtol=1e-9)
        np.testing.assert_allclose(played.decoded_at, np.cumsum(expected), rtol=1e-9)
        self.assertAlmostEqual(played.total_seconds, expected.sum())
        self.assertEqual((played.rounds, played.jobs, played.mean_stragglers), (60, 60, 0))

    def test_a_record_changes_nothing(self):
        for scheme in ("gc:s=2", "m-sgc:B=1,W=2,lambda=4", "relay:T=3"):
            recorded = paceline.simulate(scheme, PROFILE, slope=1.0)
            alone = paceline.simulate(scheme, PROFILE, slope=1.0, record=False)
            self.assertAlmostEqual(recorded.total_seconds, alone.total_seconds, msg=scheme)
            silent = np.isnan(recorded.response_times).sum(axis=1)  # others answered a part of their list
            self.assertTrue((silent <= recorded.stragglers).all() and silent.sum() > 0, scheme)
            self.assertEqual(alone.closed.size, 0)

    def test_fewer_workers_are_the_first_columns(self):
        first = paceline.simulate("uncoded", PROFILE, workers=4, slope=1.0)
        np.testing.assert_array_equal(
            first.closed, paceline.simulate("uncoded", np.asfortranarray(PROFILE[:, :4]), slope=1.0).closed)

    def test_schemes_say_what_they_cost(self):
        scheme = paceline.Scheme("gc:s=3,code=repetition", workers=16)
        self.assertEqual((scheme.load, scheme.decode_delay, scheme.name), (0.25, 0, "gc"))
        for entry in paceline.schemes():
            self.assertEqual(paceline.Scheme(entry["example"], workers=16).workers, 16)

    def test_wrong_input_is_refused_in_one_line(self):
        self.assert_refused("did you mean 'gc'", paceline.simulate, "gcc:s=1", PROFILE)
        self.assert_refused("did you mean 'bursty'", paceline.simulate, "uncoded", "bursti:base=1", workers=4)
        self.assert_refused("needs workers=N", paceline.simulate, "uncoded", MODEL)
        self.assert_refused("delays[1, 2] is nan", paceline.simulate, "uncoded", [[1, 1, 1], [1, 1, np.nan]])
        self.assert_refused("1 dimensions", paceline.simulate, "uncoded", [1.0, 2.0])
        self.assert_refused("text of a model or an array", paceline.simulate, "uncoded", object())
        self.assert_refused("1 ... 16", paceline.simulate, "uncoded", PROFILE, workers=17)
        self.assert_refused("jobs=0", paceline.simulate, "uncoded", PROFILE, jobs=0)
        self.assert_refused("missing.csv", paceline.load_profile, "missing.csv")
        self.assert_refused("jobs_per_round=3 is not allowed; 1 ... 2", paceline.tune, PROFILE, max_delay=1, jobs_per_round=3)


class Tuning(Case):
    def test_the_recommended_scheme_keeps_its_word(self):
        seen = []
        tuning = paceline.tune(PROFILE, slope=1.0, schemes=["uncoded", "gc"], jobs=30, max_delay=1,
                               progress=lambda what, done, best: seen.append(done))
        self.assertEqual([tuned.family for tuned in tuning.schemes], ["uncoded", "gc"])
        best = tuning.recommended
        self.assertAlmostEqual(best.scores.mean(), best.seconds_per_job)
        self.assertIn(best.scheme.text, tuning.advice)
        self.assertTrue(seen and seen == sorted(seen))
        played = paceline.simulate(best.text, PROFILE, slope=1.0, close=best.close)
        self.assertLess(abs(played.seconds_per_job / best.seconds_per_job - 1), 0.3)

    def test_what_progress_raises_comes_back(self):
        def progress(what, done, best):
            raise KeyError("enough")

        with self.assertRaises(KeyError):
            paceline.tune(PROFILE, slope=1.0, progress=progress)

    def test_control_c_ends_it(self):
        script = f"import paceline; print('go', flush=True); paceline.tune({MODEL!r}, workers=128, jobs=2000, score_resamples=500)"
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "go\n")
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=20)[1]
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", errors)


unittest.main()
