# SPDX-License-Identifier: Apache-2.0
"""Does the image have exactly the packages that the program needs? The program lists the libraries
that it is linked with and those that it loads by name; Debian has the package of each."""
import os
import re
import subprocess

import renderer

CONTAINERFILE = os.path.join(renderer.ROOT, "helm/Containerfile")
RELEASE = "bookworm"
# Loaded by a library that we load, by a name that no list has: one for each kind of card.
BY_NEED = {"ibverbs-providers"}
NO_LIBRARIES = {"base-files"}
# What an image must not bring: it belongs to the driver of the node, or to a daemon of the node that
# has to be of the same version.
OF_THE_NODE = {"libcuda.so.1", "liblldpctl.so.4"}


def output(*command):
    return subprocess.run(command, check=True, text=True, errors="replace",
                          stdout=subprocess.PIPE).stdout


def is_of_release():
    """Is this the Debian that the image is made from? Other ones have other names."""
    return f"VERSION_CODENAME={RELEASE}\n" in renderer.read("/etc/os-release")


def installed_by_image():
    """The packages that its root file system is made of, without those that they depend on."""
    lines = renderer.read(CONTAINERFILE).replace("\\\n", " ")
    return set(re.search(r"RUN /image-root \S+ \S+ (.*)", lines)[1].split())


def linked(binary):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", binary)))


def loaded(binary):
    """Names that the program has, as it passes them to dlopen()."""
    strings = output("readelf", "-p", ".rodata", binary)
    return set(re.findall(r"\]\s+(lib[\w.+-]+\.so\.\d+)$", strings, re.M))


def package_of(library):
    """The package, without its architecture, of a file in the library folders."""
    found = output("dpkg-query", "--search", f"*/{library}").splitlines()
    return {line.split(":")[0] for line in found if line.endswith(f"-linux-gnu/{library}")}


def complaints(binary):
    if not is_of_release():
        print(f"skipped: the libraries of the image, since this is no {RELEASE}")
        return
    libraries = (linked(binary) | loaded(binary)) - OF_THE_NODE
    needed = {package for name in libraries for package in package_of(name)} - {"libc6"}
    for package in sorted(needed - installed_by_image()):
        yield f"Containerfile: does not install {package}, which the program needs"
    for package in sorted(installed_by_image() - needed - BY_NEED - NO_LIBRARIES):
        yield f"Containerfile: installs {package}, which the program does not need"
