# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, for the checks of drawings and for the pictures of the documents."""
import subprocess


def chromium(directory, arguments, url):
    """Opens one page, with a profile in directory, and returns what Chromium prints."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               "--disable-dev-shm-usage", f"--user-data-dir={directory}/chromium", *arguments, url]
    done = subprocess.run(command, check=True, text=True, capture_output=True, timeout=300)
    return done.stdout
