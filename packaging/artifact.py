"""What all that is published has in common: its version, the systems it is for, and archives that have
neither dates nor owners, so that they are always the same."""

import gzip
import pathlib
import re
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "capi/include/mortise/mortise.h"
VERSION = re.search(r'#define MORTISE_VERSION_TEXT "(.*)"', HEADER.read_text())[1]
TARGETS = ("linux-x86_64", "linux-aarch64", "linux-musl-x86_64", "linux-musl-aarch64")


def add_to_zip(archive, name, content):
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content, compresslevel=9)


def pack(folder, to, without=()):
    """A folder as .tar.gz, which is unpacked into a folder of the archive's name; without files of these
    names."""
    name = to.name.removesuffix(".tar.gz")
    with (open(to, "wb") as file,
          gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as squeezed,
          tarfile.open(fileobj=squeezed, mode="w", format=tarfile.USTAR_FORMAT) as archive):
        for path in sorted(path for path in folder.rglob("*") if path.name not in without):
            entry = archive.gettarinfo(path, f"{name}/{path.relative_to(folder)}")
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o644 if entry.isfile() and not entry.mode & 0o100 else 0o755
            if entry.isfile():
                with open(path, "rb") as content:
                    archive.addfile(entry, content)
            else:
                archive.addfile(entry)
