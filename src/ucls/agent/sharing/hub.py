"""Agents on the Hugging Face Hub: a safetensors file and its model card, so that loading one never executes code."""

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from ucls.agent import model_card
from ucls.errors import UserError

FILE = "agent.safetensors"
CARD = "README.md"


class OnHub:
    """The methods of an agent for the Hugging Face Hub."""

    def push_to_hub(
        self,
        repo_id: str,
        *,
        filename: str = FILE,
        private: bool | None = None,
        token: str | None = None,
        commit_message: str = "Upload an agent of ucls",
    ) -> str:
        """Upload the agent and its model card to a repository, which is created if needed; return its address.

        Without `token`, the one that `hf auth login` stored is used.
        """
        agent: Any = self
        with tempfile.TemporaryDirectory() as folder, _errors(repo_id):
            path = agent.save(Path(folder) / filename)
            hub, api = _hub(), _hub().HfApi(endpoint=_endpoint(), token=token)
            card = _card(repo_id, filename, agent.about(), model_card.beside(path).read_text(encoding="utf-8"))
            api.create_repo(repo_id, private=private, exist_ok=True)
            files = {filename: path, CARD: card.encode()}
            add = [hub.CommitOperationAdd(path_in_repo=name, path_or_fileobj=what) for name, what in files.items()]
            api.create_commit(repo_id, add, commit_message=commit_message)
        return f"{api.endpoint}/{repo_id}"

    @classmethod
    def from_hub(
        cls,
        repo_id: str,
        env: Any = None,
        *,
        filename: str = FILE,
        revision: str | None = None,
        token: str | None = None,
        cache_dir: str | Path | None = None,
        algorithm: Any = None,
        features: Any = None,
    ) -> Self:
        """Download an agent from a repository, or take it from the cache, and load it as `load` does.

        The file runs no code: your own environment, algorithm and features must be given again. `revision` is a branch,
        tag or commit; a commit fixes the agent for good.
        """
        with _errors(repo_id):
            options = {"revision": revision, "token": token, "cache_dir": cache_dir, "endpoint": _endpoint()}
            path = _hub().hf_hub_download(repo_id, filename, **options)
        return cls.load(path, env, algorithm, features)  # pyright: ignore[reportAttributeAccessIssue]


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise UserError("the Hub needs a package that is not installed: pip install 'ucls[hub]'") from None
    return huggingface_hub


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT")


@contextmanager
def _errors(repo_id: str) -> Iterator[None]:
    """Turn errors of the Hub or the connection into one line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # of the hub's client, and of the one beneath it
        told = " ".join(str(error).split())[:300]
        raise UserError(f"the Hub refused the request for {repo_id!r}: {type(error).__name__}: {told}") from None


def _card(repo_id: str, filename: str, about: dict[str, Any], card: str) -> str:
    """Return the model card with the metadata that the Hub reads, and with the code that loads the agent from there."""
    named = str(about.get("env") or (about.get("named") or {}).get("env") or "")
    tags = ["reinforcement-learning", "ucls", *([named] if re.fullmatch(r"[\w/-]+", named) else [])]
    lines = ["library_name: ucls", "pipeline_tag: reinforcement-learning", "tags:", *(f"- {tag}" for tag in tags)]
    there = json.dumps(repo_id) + ("" if filename == FILE else f", filename={json.dumps(filename)}")
    card = card.replace(f"ucls.Agent.load({json.dumps(filename)}", f"ucls.Agent.from_hub({there}")
    return "\n".join(["---", *lines, "---", card])
