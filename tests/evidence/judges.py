"""The two judges of a history: builds them, and returns their results."""
import concurrent.futures
import gzip
import json
import os
import pathlib
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
OK, VIOLATION, UNKNOWN, LATE = 0, 1, 3, 4
SKIPPED = 77
VIOLATION_NAME = "violation"
NAMES = ("checker", "porcupine")
CHUNK = 1 << 20


def build_porcupine(build):
    """Without a network: ./dev setup downloads the module. Ends the test where it is missing."""
    module = HERE / "porcupine"
    surroundings = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOPROXY": "off",
                    "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    program = pathlib.Path(build).resolve() / "evidence_porcupine"
    sources = [*module.glob("*.go"), *module.glob("go.*")]
    if program.exists() and all(one.stat().st_mtime < program.stat().st_mtime for one in sources):
        return
    # Two tests may do this at once.
    new = f"{program}.{os.getpid()}"
    made = subprocess.run(["go", "build", "-o", new, "."], cwd=module, env=surroundings, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if made.returncode:
        print(made.stdout)
        is_missing = "GOPROXY=off" in made.stdout or "missing go.sum" in made.stdout
        if not is_missing:
            sys.exit(1)
        print("skipped: Porcupine is not in Go's module cache; run ./dev setup with a network")
        sys.exit(SKIPPED)
    os.rename(new, program)


def read_chunks(path):
    """What can be read: a compressed file that was cut off has no end."""
    with open(path, "rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if is_compressed else open)(path, "rb") as file:
        try:
            while chunk := file.read1(CHUNK):
                yield chunk
        except (EOFError, zlib.error):
            return


def judge(build, name, chunks, options=()):
    """(exit code, result). A judge that does not finish is "unknown"."""
    program = [f"{build}/evidence_{name}", *options]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass  # It has given up.
        text = process.stdout.read()
    try:
        result = json.loads(text)
    except ValueError:
        result = {}
    if process.returncode not in (OK, VIOLATION, LATE) or "judgment" not in result:
        result["judgment"] = "unknown"
        result.setdefault("reason", f"ended with {process.returncode}")
        return UNKNOWN, result
    return process.returncode, result


def judge_file(build, path):
    """(exit code, result) by judge. They work at the same time."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = pool.map(lambda name: judge(build, name, read_chunks(path)), NAMES)
        return dict(zip(NAMES, found))


def worst(codes):
    return next(code for code in (VIOLATION, UNKNOWN, LATE, OK) if code in codes)
