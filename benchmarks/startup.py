"""Measure what starting Planloom costs: CPU milliseconds above bare Python, least of several runs.

Run `python benchmarks/startup.py`. CPU time of the process, not wall time, so that a busy machine
matters little. Exit code 1 when a limit is passed.
"""

from __future__ import annotations

import os
import subprocess
import sys

RUNS = 15
CASES = {
    "planloom --help": (
        "import sys; sys.argv = ['planloom', '--help']; from planloom.apps.cli import main; main()",
        250,
    ),
    "import planloom": ("import planloom", 60),
    "from planloom import Agent, tool": ("from planloom import Agent, tool", 150),
}


def cpu_ms(code: str) -> float:
    """Return the least CPU time of a Python process that runs `code`, in milliseconds."""
    times: list[float] = []
    for _ in range(RUNS):
        before = _children_s()
        subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
        times.append(_children_s() - before)
    return 1000 * min(times)


def _children_s() -> float:
    """Return the CPU seconds of all ended child processes."""
    try:
        import resource
    except ImportError:  # Windows; os.times counts in coarser steps
        times = os.times()
        return times.children_user + times.children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Print a row for each case."""
    bare = cpu_ms("pass")
    print(f"bare Python: {bare:.0f} ms")
    missed = 0
    for name, (code, limit) in CASES.items():
        above = cpu_ms(code) - bare
        missed += above > limit
        print(f"{name}: {above:.0f} ms above bare Python (limit {limit})")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
