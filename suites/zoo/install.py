"""Install the zoo's packages by name into the environment that runs this: ``python -m suites.zoo.install``.

What resolves beside any torch comes as the extra `zoo`. The rest is pinned in ``packages.txt`` and installed
without its dependencies, since those ask for a torch of years ago (facenet-pytorch), for one release of it
(torchaudio) or for far more than the model itself needs; the extra holds what is needed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
CONSTRAINTS = ("--constraint", str(ROOT / "constraints.txt"), "--constraint", str(HERE / "constraints.txt"))


def main() -> int:
    """Install everything, say what each model has then, and return 1 where something is missing."""
    subprocess.run([*PIP, *CONSTRAINTS, "--editable", f"{ROOT}[cpu,zoo]"], check=True)
    subprocess.run([*PIP, "--no-deps", "--requirement", str(HERE / "packages.txt")], check=True)
    # What was installed is seen by the next process alone.
    return subprocess.run([sys.executable, "-m", "suites.zoo.packages"], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
