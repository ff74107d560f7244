"""Training with gradients that are Python functions."""

import unittest

from support import Case, need

np = need("numpy")
import paceline  # noqa: E402

X = np.random.default_rng(1).normal(size=2000)
Y = 2 * X - 1


def line(parameters, samples, weights):
    error = parameters[0] * X[samples] + parameters[1] - Y[samples]
    coded = weights * error
    return float((error**2).sum() / 2), np.array([(coded * X[samples]).sum(), coded.sum()])


def train(gradient=line, parameters=np.zeros(2), **named):
    options = dict(samples=2000, batch=200, updates=80, workers=6, optimizer="adam:lr=0.1", verify=True)
    return paceline.train(gradient, parameters, **{**options, **named})


class Training(Case):
    def test_schemes_find_the_line(self):
        for scheme in ("uncoded", "gc:s=2,code=cyclic", "m-sgc:B=1,W=2,lambda=2"):
            run = train([line] * 4, [np.zeros(2)] * 4, scheme=scheme, delays="exponential:base=0.0005,mean=0.0005")
            for parameters, losses in zip(run.parameters, run.losses):
                np.testing.assert_allclose(parameters, [2, -1], atol=0.15, err_msg=scheme)
                self.assertEqual(len(losses), 80)
                self.assertLess(losses[-1], losses[0] / 20)
            self.assertLess(run.verify_error, 1e-5)
            self.assertEqual(run.verified, 320)

    def test_what_a_gradient_raises_comes_back(self):
        def broken(parameters, samples, weights):
            raise LookupError("no such sample")

        with self.assertRaisesRegex(RuntimeError, "LookupError: no such sample"):
            train(broken)

    def test_a_gradient_of_the_wrong_form_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "a vector of 2 is expected"):
            train(lambda parameters, samples, weights: (0.0, np.zeros(3)))
        with self.assertRaisesRegex(RuntimeError, r"returns \(loss, gradient\)"):
            train(lambda parameters, samples, weights: 0.0)

    def test_wrong_input_is_refused_in_one_line(self):
        self.assert_refused("1 gradient functions and 2 parameter vectors", train, line, [np.zeros(2)] * 2)
        self.assert_refused("batch=3000 is not allowed; 1 ... 2000", train, batch=3000)
        self.assert_refused("updates=0", train, updates=0)
        self.assert_refused("model 1 has 3 parameters", train, [line] * 2, [np.zeros(2), np.zeros(3)])
        self.assert_refused("did you mean 'adam'", train, optimizer="adm:lr=1")
        self.assert_refused("gradients are functions", train, [1], [np.zeros(2)])


unittest.main()
