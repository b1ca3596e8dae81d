#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Archives of OCI layouts, which skopeo copies into a registry.

    oci.py chart CHART.tgz ARCHIVE   writes one with a Helm chart
    oci.py digests ARCHIVE...        prints the digest of what each holds, and the name of the archive

"helm push" would need Helm, and writes the time of day into the manifest (helm/helm,
pkg/registry/chart.go, org.opencontainers.image.created), so that each push has another digest. The media
types are those of helm/helm, pkg/registry/constants.go.
"""
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

import yaml

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CHART_CONFIG = "application/vnd.cncf.helm.config.v1+json"
CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


class Layout:
    """Files of a layout. Each blob is described by its descriptor."""

    def __init__(self):
        self.files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def add(self, media_type, data):
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def close(self, path, config, layers, annotations):
        """Writes the archive; its times are those of the commit."""
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers,
                    "annotations": annotations}
        index = {"schemaVersion": 2, "manifests": [self.add(MANIFEST, json.dumps(manifest).encode())]}
        self.files["index.json"] = json.dumps(index).encode()
        with tarfile.open(path, "w") as archive:
            for name, data in sorted(self.files.items()):
                member = tarfile.TarInfo(name)
                member.size, member.mtime = len(data), int(os.environ["SOURCE_DATE_EPOCH"])
                archive.addfile(member, io.BytesIO(data))


def write_chart(path, output):
    with tarfile.open(path) as chart:
        name = next(name for name in chart.getnames() if name.count("/") == 1 and name.endswith("/Chart.yaml"))
        about = yaml.safe_load(chart.extractfile(name))
    layout = Layout()
    notes = {"title": about["name"], "version": about["version"], "description": about["description"],
             "url": about.get("home")}
    layout.close(output, layout.add(CHART_CONFIG, json.dumps(about).encode()),
                 [layout.add(CHART_LAYER, pathlib.Path(path).read_bytes())],
                 {f"org.opencontainers.image.{key}": value for key, value in notes.items() if value})


def digest(path):
    with tarfile.open(path) as archive:
        index = json.load(archive.extractfile("index.json"))
    return index["manifests"][0]["digest"]


def main():
    match sys.argv[1:]:
        case ["chart", path, output]:
            return write_chart(path, output)
        case ["digests", *paths]:
            return print(*(f"{digest(path)}  {os.path.basename(path)}" for path in paths), sep="\n")
    return __doc__


if __name__ == "__main__":
    sys.exit(main())
