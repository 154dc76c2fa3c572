"""Run the steps of the Dockerfile without a container: same commands, same user, same paths.

    sudo python scripts/check_container.py [--python /usr/bin/python3]

For machines on which no container can be started. The file system is this machine's, read-only but for the
volume and a tmpfs in a mount namespace of its own, so nothing outside a temporary folder changes. Needs
root on Linux, for the user of the image and the namespace, and the package index.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
USER = 10001
PORT = 8765


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--python", default="/usr/bin/python3", help="in place of the image's; readable for all"
    )
    asked = parser.parse_args()
    steps = read_steps((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    with TemporaryDirectory(prefix="simonides-container-") as place:
        image = Path(place)
        image.chmod(0o755)
        for folder in ("wheels", "models", "memories", "tmp"):
            (image / folder).mkdir()
        _run([asked.python, "-m", "venv", str(image / "env")])
        inside = {
            "PATH": f"{image / 'env' / 'bin'}:{os.environ['PATH']}",
            "SIMONIDES_CACHE": str(image / "models"),
            "SIMONIDES_STORE": str(image / "memories"),
            "SIMONIDES_SERVE_HOST": "127.0.0.1",
        }
        for name in ("build", "install", "model"):
            _run(["sh", "-c", _placed(steps[name], image)], {**os.environ, **inside})
        os.chown(image / "memories", USER, USER)
        _serve(steps, image, inside)
    return 0


def read_steps(dockerfile: str) -> dict[str, str]:
    """The commands below ``# step: NAME``, as a shell runs them."""
    found = {}
    for name, instruction in re.findall(
        r"^# step: (\w+)\n((?:.*\\\n)*.*)$", dockerfile.replace("\\\n    ", " "), re.MULTILINE
    ):
        command = re.sub(r"^(?:RUN|HEALTHCHECK(?: --\S+)*\s+CMD|CMD)\s+", "", instruction)
        found[name] = shlex.join(json.loads(command)) if command.startswith("[") else command
    return found


def _placed(command: str, image: Path) -> str:
    """*command* with the image's paths below the temporary folder."""
    command = command.replace("/source", str(ROOT))
    return re.sub(r"(?<![\w/.])/(wheels|models|memories)\b", rf"{image}/\1", command)


def _serve(steps: dict[str, str], image: Path, inside: dict[str, str]) -> None:
    """Start the server as the image's user, everything but its volume read-only, and ask its health check."""
    namespace = (
        f"mount --make-rprivate / && mount --bind {image}/memories {image}/memories"
        f" && mount -t tmpfs -o mode=1777 tmpfs {image}/tmp && mount -o remount,ro,bind / && "
    )
    drop = f"exec setpriv --reuid={USER} --regid={USER} --clear-groups --no-new-privs --bounding-set=-all "
    environment = {**inside, "SIMONIDES_OFFLINE": "1", "HOME": "/nonexistent", "TMPDIR": f"{image}/tmp"}
    server = subprocess.Popen(
        [
            "unshare",
            "--mount",
            "sh",
            "-c",
            namespace + drop + f"sh -c {shlex.quote('exec ' + steps['serve'])}",
        ],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 60
        while subprocess.run(
            ["sh", "-c", steps["health"]], env=inside, capture_output=True, check=False
        ).returncode:
            if time.monotonic() > until or server.poll() is not None:
                raise SystemExit("the health check did not succeed within a minute")
            time.sleep(0.5)
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii")
        _check(f"Uid:\t{USER}\t{USER}" in status, "the server runs as another user")
        _check(re.search(r"CapEff:\t0+\n", status), "the server has capabilities")
        token = (image / "memories" / "token").read_text(encoding="ascii").strip()
        _ask(token, "memories", {"items": ["The spare key hangs behind the fridge."]})
        answer = _ask(token, "recall", {"query": "Where is the spare key?"})
        _check("behind the fridge" in str(answer["context"]), f"answered {answer}")
    finally:
        server.terminate()
        status_code = server.wait(30)
    _check(status_code == 0, f"the server ended with {status_code}")
    print(f"build, install, model, serve as user {USER}, health check, retain and recall: as in the image")


def _ask(token: str, what: str, body: dict[str, object]) -> dict[str, object]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/v1/banks/default/{what}",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    _check(done.returncode == 0, f"{shlex.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def _check(holds: object, problem: str) -> None:
    if not holds:
        raise SystemExit(problem)


if __name__ == "__main__":
    sys.exit(main())
