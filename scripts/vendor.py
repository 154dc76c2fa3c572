"""Fetch the libraries of the page, pinned by version and by the checksum of each package.

    python scripts/vendor.py            write src/simonides/surfaces/page/static/vendor/ anew
    python scripts/vendor.py --check    compare the files that are there with their SHA-256 in vendor.json

A package comes from the npm registry by `npm pack`. The browser resolves no bare names, so each import of
another package is replaced by the path of its file. To take a newer version: change PACKAGES and run with
``--pin``, which also writes the new checksums.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "src/simonides/surfaces/page/static/vendor"
LIST = FOLDER / "vendor.json"
PACKAGES = {
    "preact": ("11.2.0", {"dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "hooks.js"}),
    "htm": ("3.1.1", {"dist/htm.mjs": "htm.js"}),
    "@preact/signals-core": ("1.14.5", {"dist/signals-core.mjs": "signals-core.js"}),
    "@preact/signals": ("2.11.4", {"dist/signals.mjs": "signals.js"}),
}
"""Version, and by path in the package the name of the file here."""
PLACES = {
    "preact": "./preact.js",
    "preact/hooks": "./hooks.js",
    "@preact/signals-core": "./signals-core.js",
}
_BARE = re.compile(r"""(from\s*|import\s*)(["'])(?!\.)([^"']+)\2""")
_MAP = re.compile(rb"\n//# sourceMappingURL=.*\s*$")


def main() -> int:
    """Write or check; 0 = as it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument("--pin", action="store_true", help="write the checksums of what was fetched")
    given = parser.parse_args()
    if given.check:
        return check()
    pinned = json.loads(LIST.read_text("utf-8")) if LIST.exists() else {}
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, (version, files) in PACKAGES.items():
        packed = fetch(name, version)
        checksum = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
        known = pinned.get(name, {}).get("package")
        if not given.pin and checksum != known:
            print(
                f"{name} {version}: the package is {checksum}, pinned is {known}; look why", file=sys.stderr
            )
            return 1
        written[name] = unpack(name, version, packed, files, checksum)
    LIST.write_text(json.dumps(written, indent=1) + "\n", "utf-8")
    return check()


def fetch(name: str, version: str) -> bytes:
    """The package as the registry holds it."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"{name}@{version}", "--pack-destination", folder]
        subprocess.run(command, check=True, capture_output=True)
        (file,) = Path(folder).glob("*.tgz")
        return file.read_bytes()


def unpack(name: str, version: str, packed: bytes, files: dict[str, str], checksum: str) -> dict[str, object]:
    """Write the files of a package; returns its entry in the list."""
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "package.tgz"
        place.write_bytes(packed)
        with tarfile.open(place) as archive:
            members = {each.name.partition("/")[2]: each for each in archive.getmembers()}

            def read(path: str) -> bytes:
                file = archive.extractfile(members[path])
                assert file is not None
                return file.read()

            told = json.loads(read("package.json"))
            for path, target in files.items():
                body = _MAP.sub(b"\n", read(path)).decode()
                body = _BARE.sub(lambda found: f"{found[1]}{found[2]}{PLACES[found[3]]}{found[2]}", body)
                (FOLDER / target).write_text(body, "utf-8")
                sums[target] = hashlib.sha256(body.encode()).hexdigest()
            licence = next(path for path in members if path.upper() in {"LICENSE", "LICENCE", "LICENSE.MD"})
            target = f"{name.rpartition('/')[2]}.LICENSE"
            (FOLDER / target).write_bytes(read(licence))
            sums[target] = hashlib.sha256(read(licence)).hexdigest()
    return {"version": version, "licence": told["license"], "package": checksum, "files": sums}


def check() -> int:
    """Compare what is there with the list; 0 = the same."""
    listed = json.loads(LIST.read_text("utf-8"))
    sums = {file: value for package in listed.values() for file, value in package["files"].items()}
    # What ends with .d.ts names the types of a file for `make check`; it is ours and is not served.
    present = {each.name for each in FOLDER.iterdir() if each.suffix != ".ts"} - {LIST.name}
    wrong = sorted(present ^ sums.keys())
    wrong += sorted(
        file
        for file in present & sums.keys()
        if hashlib.sha256((FOLDER / file).read_bytes()).hexdigest() != sums[file]
    )
    if wrong:
        print(f"not as vendor.json says: {', '.join(wrong)}; run: make vendor", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
