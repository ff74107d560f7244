"""Gradient codes: every set of answers of every exact code, arrays without copies, and what is refused."""

import array
import itertools
import subprocess
import sys
import unittest

from support import Case, need

np = need("numpy")
import paceline  # noqa: E402

EXACT = ["repetition:s=1", "cyclic:s=2", "mds:s=2"]


class Codes(Case):
    def test_every_decoding_is_the_sum_of_all_chunks(self):
        for text in EXACT:
            code = paceline.Code(text, workers=6)
            expected = np.tile(np.eye(code.parts), code.chunks)
            for answered in itertools.combinations(range(6), 6 - code.tolerance):
                decoding = code.decode(answered)
                vector = decoding.vector.reshape(6 * code.segments, code.parts)
                np.testing.assert_allclose(vector.T @ code.matrix, expected, atol=1e-9, err_msg=text)
                self.assertLessEqual(set(decoding.workers), set(answered))

    def test_encode_and_apply_agree_with_the_matrix(self):
        random = np.random.default_rng(1)
        for text, dtype in itertools.product(EXACT, (np.float32, np.float64)):
            code = paceline.Code(text, workers=6)
            length = code.padded_length(7)
            gradients = random.normal(size=(code.chunks, length)).astype(dtype)
            messages = np.stack([code.encode(i, gradients) for i in range(6)])
            by_matrix = code.matrix @ gradients.reshape(code.chunks * code.parts, -1).astype(float)
            np.testing.assert_allclose(messages.reshape(by_matrix.shape), by_matrix, rtol=0, atol=1e-5)
            self.assertEqual(messages.shape[1], code.message_length(7))
            decoded = code.decode([0, 1, 2, 4, 5]).apply(messages)
            self.assertEqual(decoded.dtype, dtype)
            np.testing.assert_allclose(decoded, gradients.sum(axis=0), atol=2e-5)

    def test_results_go_where_they_are_wanted(self):
        code = paceline.Code("cyclic:s=1", workers=4)
        messages = [code.encode(i, np.ones((4, 3), dtype=np.float32)) for i in range(4)]
        out = np.full((2, 3), 7, dtype=np.float32)
        self.assertIs(code.decode([0, 1, 2]).apply([*messages[:3], None], out=out[1]).base, out)
        np.testing.assert_allclose(out, [[7, 7, 7], [4, 4, 4]], rtol=1e-5)

    def test_rows_may_lie_apart_and_in_any_buffer(self):
        code = paceline.Code("cyclic:s=1", workers=4)
        wide = np.zeros((8, 6))
        messages = wide[::2, 1:4]
        for i in range(4):
            code.encode(i, np.ones((4, 3)), out=messages[i])
        whole = code.decode([1, 2, 3]).apply(messages)
        buffers = [array.array("d", row) for row in messages]
        np.testing.assert_array_equal(code.decode([1, 2, 3]).apply(buffers), whole)

    def test_answered_is_a_list_or_a_mask(self):
        code = paceline.Code("cyclic:s=1", workers=4)
        mask = np.array([True, False, True, True])
        np.testing.assert_array_equal(code.decode(mask).vector, code.decode(np.array([0, 2, 3])).vector)
        self.assertTrue(code.decodable(mask))
        self.assertFalse(code.decodable([0, 1]))
        self.assertIsNone(code.decode([0, 1]))

    def test_an_approximate_code_says_what_is_missing(self):
        code = paceline.Code("graph:r=4,s=3", workers=16)
        self.assertFalse(code.exact)
        decoding = code.decode(range(13))
        vector = decoding.vector @ code.matrix
        self.assertAlmostEqual(decoding.residual, ((vector - 1) ** 2).mean())

    def test_the_catalogue_is_complete(self):
        names = {code["name"] for code in paceline.codes()}
        self.assertLess({"repetition", "cyclic", "mds", "graph"}, names)

    def test_wrong_input_is_refused_in_one_line(self):
        code = paceline.Code("cyclic:s=1", workers=4)
        decoding = code.decode([0, 1, 2])
        good = np.ones((4, 3))
        self.assert_refused("did you mean 'cyclic'", paceline.Code, "cylic:s=1", workers=4)
        self.assert_refused("workers=0", paceline.Code, "cyclic:s=1", workers=0)
        self.assert_refused("worker 4 is not allowed; 0 ... 3", code.decode, [0, 4])
        self.assert_refused("worker -1 is not allowed", code.row, -1)
        self.assert_refused("one bool per worker", code.decode, ["a"])
        self.assert_refused("float32 or float64", decoding.apply, good.astype(int))
        self.assert_refused("not contiguous", decoding.apply, np.ones((4, 6))[:, ::2])
        self.assert_refused("messages[1] is not contiguous", decoding.apply, [good[0], np.ones(6)[::2], good[0], None])
        self.assert_refused("messages[1] is None", decoding.apply, [good[0], None, good[0], good[0]])
        self.assert_refused("another length or type", decoding.apply, [good[0], np.ones(2), good[0], None])
        self.assert_refused("there are 3 messages; 4 are expected", decoding.apply, good[:3])
        self.assert_refused("messages[0] is no array", decoding.apply, [[1.0], None, None, None])
        self.assert_refused("3 of float64 are expected", decoding.apply, good, out=np.ones(3, dtype=np.float32))
        frozen = np.ones(3)
        frozen.flags.writeable = False
        self.assert_refused("out is read-only", decoding.apply, good, out=frozen)

    def test_importing_loads_neither_libtorch_nor_mpi(self):
        look = "import paceline; maps = open('/proc/self/maps').read(); print('libtorch' in maps, 'libmpi' in maps)"
        found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
        self.assertEqual(found.stdout.split(), ["False", "False"])


unittest.main()
