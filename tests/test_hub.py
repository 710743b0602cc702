"""Agents on the Hub, against a server on this machine that keeps what it is given."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import ucls
from ucls import Agent, UserError

pytest.importorskip("huggingface_hub")


class Hub(BaseHTTPRequestHandler):
    """As much of the Hub as an upload of small files and a download need."""

    def log_message(self, *words):
        pass

    def do_POST(self):
        sent = self._sent()
        self.server.asked.append(self.path)
        if self.path == "/api/repos/create":
            about = json.loads(sent)
            repo = f"{about['organization']}/{about['name']}" if about.get("organization") else about["name"]
            self._json({"url": f"{self.server.address}/{repo}", "name": repo})
        elif self.path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif "/preupload/" in self.path:
            files = json.loads(sent)["files"]
            self._json({"files": [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files]})
        elif "/commit/" in self.path:
            repo = self.path.removeprefix("/api/models/").partition("/commit/")[0]
            for line in map(json.loads, sent.decode().splitlines()):
                if line["key"] == "file":
                    content = base64.b64decode(line["value"]["content"])
                    self.server.files[f"/{repo}/resolve/main/{line['value']['path']}"] = content
            commit = {"success": True, "commitOid": "0" * 40, "commitUrl": f"{self.server.address}/{repo}/commit/0"}
            self._json(commit)
        else:
            self.send_error(404)

    def _sent(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def do_HEAD(self):
        self._file(with_body=False)

    def do_GET(self):
        self._file(with_body=True)

    def _file(self, with_body):
        content = self.server.files.get(self.path)
        if content is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def _json(self, data):
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def hub(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.files, server.asked, server.address = {}, [], f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.shutdown()
    server.server_close()


def test_an_agent_comes_back_from_the_hub_as_it_was(hub, tmp_path):
    agent = Agent("FrozenLake-v1", "sarsa", seed=1).learn(300)
    address = agent.push_to_hub("someone/lake", token="hf_test")
    assert address == f"{hub.address}/someone/lake"
    again = Agent.from_hub("someone/lake", "FrozenLake-v1", token="hf_test", cache_dir=tmp_path)
    assert again.steps == 300
    for state in range(16):
        np.testing.assert_array_equal(again.value_estimates(state)[0], agent.value_estimates(state)[0])
    assert set(hub.files) == {f"/someone/lake/resolve/main/{name}" for name in ("agent.safetensors", "README.md")}
    assert "/api/repos/create" in hub.asked


def test_the_card_on_the_hub_names_the_library_and_says_how_to_load_the_agent(hub):
    Agent("FrozenLake-v1", "sarsa", seed=1).learn(50).push_to_hub("someone/lake", token="hf_test")
    card = hub.files["/someone/lake/resolve/main/README.md"].decode()
    assert card.startswith("---\nlibrary_name: ucls\npipeline_tag: reinforcement-learning\n")
    assert "- FrozenLake-v1\n" in card
    assert "# sarsa in FrozenLake-v1" in card
    assert 'ucls.Agent.from_hub("someone/lake"' in card


def test_what_the_hub_does_not_have_is_reported_in_one_line(hub, tmp_path):
    with pytest.raises(UserError, match="the Hub refused the request for 'someone/none'") as error:
        Agent.from_hub("someone/none", token="hf_test", cache_dir=tmp_path)
    assert "\n" not in str(error.value)


def test_a_file_from_the_hub_that_is_no_agent_is_refused(hub, tmp_path):
    hub.files["/someone/bad/resolve/main/agent.safetensors"] = b"import os"
    with pytest.raises(UserError, match="corrupted or not a checkpoint"):
        Agent.from_hub("someone/bad", token="hf_test", cache_dir=tmp_path)


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(UserError, match=r"pip install 'ucls\[hub\]'"):
        ucls.Agent.from_hub("someone/lake")
