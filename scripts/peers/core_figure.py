"""What core_ray.py and core_xoscar.py share: their options, medians, the lines of a figure and of what is left out."""

import argparse
import json
import statistics
import sys

UNDER_WAY = 1000  # calls of one caller

median = statistics.median


class Figures:
    def __init__(self, peer, quick):
        self.peer, self.quick = peer, quick

    def rounds(self, full, least=2):
        return max(full // 10, least) if self.quick else full

    def line(self, name, value, unit, **facts):
        line = {"name": name, "value": float(f"{value:.4g}"), "unit": unit, "peer": self.peer, **facts}
        print(json.dumps(line), flush=True)

    def left_out(self, names, why):
        print(f"{self.peer}: {names} left out: {why}", file=sys.stderr, flush=True)


def parser(description):
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    return made
