"""What rt.py does inside and outside of a trial. Run: python3 -m unittest rt_test (in this folder)."""

import contextlib
import io
import json
import math
import os
import tempfile
import unittest
from unittest import mock

import rt


class InsideATrial(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        self.checkpoints = os.path.join(self.home, "checkpoints")
        os.mkdir(self.checkpoints)
        self.set({
            "RT_TRIAL_ID": "0007",
            "RT_REPORT": os.path.join(self.home, "report"),
            "RT_CHECKPOINT_DIR": self.checkpoints,
            "RT_PARAMETERS": os.path.join(self.home, "parameters.json"),
            "RT_RESTORE": "",
            "RT_STOP_FILE": os.path.join(self.home, "stop"),
            "RANK": "1",
            "WORLD_SIZE": "2",
        })
        rt._new_checkpoint = None

    def set(self, variables):
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def reports(self):
        with open(os.environ["RT_REPORT"], encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_knows_its_place(self):
        self.assertEqual((rt.trial_id(), rt.rank(), rt.world_size()), ("0007", 1, 2))

    def test_parameters_are_the_sweeps_over_the_defaults(self):
        with open(os.environ["RT_PARAMETERS"], "w", encoding="utf-8") as file:
            file.write('{"lr": 0.5, "model": {"layers": 2}}')
        self.assertEqual(rt.parameters({"lr": 0.1, "seed": 3}), {"lr": 0.5, "model": {"layers": 2}, "seed": 3})

    def test_a_report_is_one_line_of_json(self):
        rt.report(1, loss=0.5)
        rt.report(2, loss=0.25, accuracy=1)
        self.assertEqual(self.reports(), [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.25, "accuracy": 1}])

    def test_a_metric_may_be_whatever_is_a_number(self):
        class Tensor:
            def __float__(self):
                return 2.5

        rt.report(1, a=Tensor(), b=True, c=math.inf, d=math.nan)
        [report] = self.reports()
        self.assertEqual((report["a"], report["b"], report["c"]), (2.5, 1.0, math.inf))
        self.assertTrue(math.isnan(report["d"]))

    def test_a_metric_that_is_no_number_is_refused_before_anything_is_written(self):
        with self.assertRaises((TypeError, ValueError)):
            rt.report(1, note="warm")
        self.assertFalse(os.path.exists(os.environ["RT_REPORT"]))

    def test_the_next_report_names_the_new_checkpoint_once(self):
        with rt.checkpoint(3) as folder:
            with open(os.path.join(folder, "weights"), "w") as file:
                file.write("1 2 3")
            os.mkdir(os.path.join(folder, "more"))
        rt.report(3, loss=1)
        rt.report(4, loss=1)
        self.assertEqual(self.reports(), [{"step": 3, "loss": 1, "checkpoint": "step-3"}, {"step": 4, "loss": 1}])
        self.assertEqual(sorted(os.listdir(os.path.join(self.checkpoints, "step-3"))), ["more", "weights"])
        self.assertEqual(os.listdir(self.checkpoints), ["step-3"])

    def test_a_checkpoint_can_be_named_by_hand(self):
        rt.report(1, checkpoint="mine")
        self.assertEqual(self.reports(), [{"step": 1, "checkpoint": "mine"}])

    def test_a_checkpoint_has_its_name_only_when_it_is_whole(self):
        with self.assertRaisesRegex(RuntimeError, "disk"):
            with rt.checkpoint(3) as folder:
                self.assertEqual(os.listdir(folder), [])
                self.assertFalse(os.path.exists(os.path.join(self.checkpoints, "step-3")))
                raise RuntimeError("disk")
        self.assertEqual(os.listdir(self.checkpoints), [])
        rt.report(3)
        self.assertEqual(self.reports(), [{"step": 3}])

    def test_what_a_killed_run_left_is_swept(self):
        left = os.path.join(self.checkpoints, ".partial-rank-1")
        os.mkdir(left)
        open(os.path.join(left, "half"), "w").close()
        with rt.checkpoint(1) as folder:
            self.assertEqual(os.listdir(folder), [])

    def test_a_step_done_again_writes_over_no_checkpoint(self):
        for _ in range(3):
            with rt.checkpoint(5):
                pass
        self.assertEqual(sorted(os.listdir(self.checkpoints)), ["step-5", "step-5-2", "step-5-3"])

    def test_it_is_told_what_to_go_on_from(self):
        self.assertIsNone(rt.restore())
        self.set({"RT_RESTORE": "/runs/7/checkpoints/step-4"})
        self.assertEqual(rt.restore(), "/runs/7/checkpoints/step-4")

    def test_it_stops_once_the_file_is_there(self):
        self.assertFalse(rt.should_stop())
        open(os.environ["RT_STOP_FILE"], "w").close()
        self.assertTrue(rt.should_stop())


class OutsideOfATrial(unittest.TestCase):
    def setUp(self):
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("RT_", "RANK", "WORLD_"))}
        patch = mock.patch.dict(os.environ, bare, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        os.chdir(folder.name)
        self.addCleanup(os.chdir, before)
        rt._new_checkpoint = None

    def test_it_is_one_rank_with_the_defaults(self):
        self.assertEqual((rt.trial_id(), rt.rank(), rt.world_size(), rt.restore()), (None, 0, 1, None))
        self.assertEqual(rt.parameters({"lr": 0.1}), {"lr": 0.1})
        self.assertFalse(rt.should_stop())

    def test_reports_are_printed_and_checkpoints_lie_here(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            with rt.checkpoint(1):
                pass
            rt.report(1, loss=0.5)
        self.assertEqual(json.loads(printed.getvalue()), {"step": 1, "loss": 0.5, "checkpoint": "step-1"})
        self.assertTrue(os.path.isdir("checkpoints/step-1"))


if __name__ == "__main__":
    unittest.main()
