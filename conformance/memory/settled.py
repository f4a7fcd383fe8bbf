"""Runs the harness in the current folder, and asks its questions when the server has settled.

A server that embeds does so in the background: what was just stored is found by its words at once, and by its meaning a
moment later. Whoever measures how well it finds waits for that moment, if MONAS_EMBEDS is set; the audit says when it
has come.
"""
import json
import os
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.getcwd())
import harness
import http_adapter


class Settled(http_adapter.HttpBackend):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        agent = urllib.parse.quote(self.agent)
        while True:
            with urllib.request.urlopen(f"{self.base}/api/memory/audit?agent={agent}", timeout=60) as answer:
                audit = json.load(answer)
            if audit["embedded"] == audit["records"]:
                return
            time.sleep(0.2)


if "MONAS_EMBEDS" in os.environ:
    http_adapter.HttpBackend = Settled
harness.main()
