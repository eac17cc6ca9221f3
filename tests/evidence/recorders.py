"""How the recorder of each language is started."""
import argparse
import os
import pathlib
import time

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = ("c", "go", "java", "lua")
BINDING = HERE.parents[1] / "bindings/lua"


def read_list(text):
    """A list of languages, for argparse."""
    names = text.split(",")
    for name in names:
        if name not in LANGUAGES:
            raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(LANGUAGES)}")
    return names


def boot_offset_ns():
    """What Java adds to its clock, which does not count suspends."""
    return (time.clock_gettime_ns(time.CLOCK_BOOTTIME) -
            time.clock_gettime_ns(time.CLOCK_MONOTONIC))


def program(build, language):
    return {"c": lambda: [f"{build}/evidence_recorder"],
            "go": lambda: [f"{build}/go/evidence_recorder"],
            # A JVM that lives for seconds starts sooner with the simple compiler.
            "java": lambda: ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m",
                             f"-Doffset={boot_offset_ns()}", "-cp",
                             f"{build}/java/mortise.jar:{build}/java/evidence", "EvidenceRecorder"],
            "lua": lambda: ["luajit", HERE / "recorder/recorder.lua"]}[language]()


def built(build):
    """The languages of the processes of a campaign: C next to each other that is built."""
    files = {"go": f"{build}/go/evidence_recorder",
             "java": f"{build}/java/evidence/EvidenceRecorder.class",
             "lua": f"{build}/lua/5.1/mortise/core.so"}
    others = [language for language, path in files.items() if os.path.exists(path)]
    return [one for language in others for one in ("c", language)] or ["c"]


def environment_of(build, language):
    if language != "lua":
        return {}
    return {"LUA_PATH": f"{BINDING}/?.lua;{BINDING}/?/init.lua;;",
            "LUA_CPATH": f"{build}/lua/5.1/?.so;;"}


def command(build, language, host, environment, words):
    """It runs on this host, a network namespace or "", and does not outlive this program."""
    start = []
    if host:
        start = ["nsenter", f"--user={os.path.dirname(host)}/user", f"--net={host}",
                 "--preserve-credentials"]
    start += ["setpriv", "--pdeathsig", "KILL"]
    environment = environment | environment_of(build, language)
    if environment:
        start += ["env", *(f"{key}={value}" for key, value in environment.items())]
    return [*start, *program(build, language), *map(str, words)]
