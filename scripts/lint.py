"""The rules of scripts/lint that read sources. lint.py RULE, the files' names on standard input; fails where a rule is broken."""

import re
import sys
from pathlib import Path

# A folder, and the folders whose headers its files may include beside its own. The most specific folder counts.
MAY_INCLUDE = {
    "runtime": ["runtime"],
    "actors": ["actors", "runtime"],
    "actors/collective": ["actors", "runtime"],
    "actors/train": ["actors", "runtime"],
    "tune": ["tune", "actors", "runtime"],
    "rl": ["rl", "actors", "runtime"],
    "rtctl": ["rtctl", "tune", "actors", "runtime"],
    "rtctl/torch": ["rtctl/torch", "rl", "actors", "runtime"],
    "examples": ["examples", "rl", "tune", "actors", "runtime"],
}
# Below a folder that may be included, these may be only from where they are named.
NOT_FROM_ABOVE = {
    "actors/collective": ["actors/collective", "actors/train", "rl", "rtctl/torch", "examples", "tests"],
    "actors/train": ["actors/train", "rl", "rtctl/torch", "examples", "tests"],
    "rtctl/torch": ["rtctl/torch", "tests"],
}
WITH_TORCH = ["actors/collective", "actors/train", "rl", "rtctl/torch", "examples", "tests"]

# Where decisions are made: no clock is read, no random device, no thread, no socket. Time and chance come in as values.
PURE = ("tune/", "runtime/schedule/", "runtime/head/")  # beginnings of paths
NOT_PURE = ("tune/runner", "tune/filing_thread", "runtime/head/server")  # they carry the decisions out
IMPURE = (
    r"(steady|system|high_resolution)_clock::now|clock_gettime|gettimeofday|\btime\((nullptr|NULL|0)\)|random_device"
    r"|\bstd::(jthread|thread|async)\b|\bs?rand\(|sleep_for|sleep_until|<(thread|sys/socket\.h|boost/asio[^>]*)>"
)

FILE_LINES, FUNCTION_LINES = 400, 70


def below(path, folders):
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def lines(path):
    """Its lines without `//` comments, numbered."""
    text = Path(path).read_text(errors="replace").splitlines()
    return [(number, re.sub(r"(^|\s)//.*", "", line)) for number, line in enumerate(text, 1)]


def includes(path):
    for number, line in lines(path):
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if found:
            yield number, found[1]


def edges(path):
    """Includes go down only."""
    homes = [folder for folder in MAY_INCLUDE if below(path, [folder])]
    for number, header in includes(path):
        header = header.removeprefix("rt/")
        if homes and below(header, ["runtime", "actors", "tune", "rl", "rtctl", "examples", "tests"]):
            home = max(homes, key=len)
            if not below(header, MAY_INCLUDE[home]):
                yield number, f"{home} includes {header}, which lies above it"
        for folder, allowed in NOT_FROM_ABOVE.items():
            if below(header, [folder]) and not below(path, allowed):
                yield number, f"{header} needs LibTorch; {path} must do without"


def torch(path):
    """LibTorch's headers stay where they belong."""
    for number, header in includes(path):
        if below(header, ["torch", "ATen", "c10", "caffe2"]) and not below(path, WITH_TORCH):
            yield number, f"<{header}> is LibTorch's; it may be included in {', '.join(WITH_TORCH)} only"


def pure(path):
    """Decisions read no clock and no random device, and start no thread."""
    if not path.startswith(PURE) or path.startswith(NOT_PURE) or re.search(r"\.(test|bench)\.cpp$", path):
        return
    for number, line in lines(path):
        found = re.search(IMPURE, line)
        if found:
            yield number, f"{found[0]} in a pure file: pass the value in"


def waiting(path):
    """Nothing is detached, and no test sleeps."""
    detached = r"asio::detached|[.>]detach\(\)"
    if below(path, WITH_TORCH) and "thread" not in [header for _, header in includes(path)]:
        detached = r"asio::detached"  # there, detach() is a tensor's
    for number, line in lines(path):
        if re.search(detached, line):
            yield number, "detached work has no owner: join it, or hand it to a scope that does"
        if path.endswith(".test.cpp") and re.search(r"sleep_for|sleep_until|\bu?sleep\(|nanosleep", line):
            yield number, "a test sleeps: move the clock by hand, or wait for the event"


def printing(path):
    """rtctl prints through print.h, which doesn't throw where a terminal is gone or a disk full."""
    if not path.startswith("rtctl/") or path.startswith(("rtctl/torch/", "rtctl/print.")):
        return
    for number, line in lines(path):
        found = re.search(r"fmt::print|\bf?(printf|puts)\(|\bfput[cs]\(|\bfwrite\(|std::(cout|cerr|clog)", line)
        if found:
            yield number, f"{found[0].rstrip('(')} in rtctl: print by rtctl/print.h, which never throws"


def functions(path):
    """(first line, length) of every function body, told by the indentation that clang-format gives."""
    start = first = 0
    indent, begins_statement = "", True
    for number, line in lines(path):
        if begins_statement and not start:
            first, indent = number, re.match(r"\s*", line)[0]
        if start and line.startswith(indent + "}"):
            yield start, number - start + 1
            start = 0
        elif not start and re.search(r"\)[^;{}()]*\{$", line):
            start = first
        begins_statement = not line.strip() or line[-1] in ";{}:" or line.startswith("#")


def size(path):
    """Files and functions stay small."""
    length = len(Path(path).read_text(errors="replace").splitlines())
    if length > FILE_LINES:
        yield length, f"{length} lines, more than {FILE_LINES}: split it by purpose"
    for start, length in [] if path.endswith(".test.cpp") else functions(path):
        if length > FUNCTION_LINES:
            yield start, f"a function of {length} lines, more than {FUNCTION_LINES}"


def hosts(path):
    """No file names a package registry's host: the machine's own apt and pip settings say where packages are."""
    for number, line in enumerate(Path(path).read_text(errors="replace").splitlines(), 1):
        if re.search(r"\b(pypi|pythonhosted|debian|pytorch)\.(org|io|net)\b|--(extra-)?index-url", line):
            yield number, "names a registry or host"


SOURCES = re.compile(r"\.(h|cpp)$")
RULES = {rule.__name__: rule for rule in (edges, torch, pure, waiting, printing, size, hosts)}


def main():
    rule = sys.argv[1]
    paths = [path for path in sys.stdin.read().splitlines() if Path(path).is_file()]
    if rule == "without-torch":
        print(*(path for path in paths if not below(path, WITH_TORCH) and not path.endswith(".test.cpp")), sep="\n")
        return 0
    if rule not in RULES:
        print(f"lint: no rule is called {rule}; there are {', '.join(RULES)}, shell, format", file=sys.stderr)
        return 2
    broken = 0
    for path in paths:
        if rule != "hosts" and not SOURCES.search(path):
            continue
        if rule == "hosts" and path == "scripts/lint.py":
            continue
        for number, message in RULES[rule](path):
            print(f"{path}:{number}: {message}")
            broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
