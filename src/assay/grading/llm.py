"""One prompt to one model, outside of any rubric: text, or a pydantic model read from the reply."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar, overload

import orjson
from pydantic import BaseModel, ValidationError

from assay.errors import RunError
from assay.grading.config import CACHE_DIR, LLMConfig
from assay.grading.judge_models import Clients, here
from assay.judging.json_extraction import objects_in
from assay.judging.reports import TokenUsage
from assay.types import Item, Reply, Request

T = TypeVar("T", bound=BaseModel)


@dataclass(slots=True)
class GenerateResult:
    """A model's reply with its thinking and cost; `parsed` is the reply in the requested format."""

    content: str
    thinking: str | None = None
    raw_response: Any = None
    usage: TokenUsage | None = None
    cost: float | None = None
    parsed: Any = None


class LLMClient:
    """A client for one model.

    With `cache_enabled`, replies are stored in files keyed by everything that determines them.
    """

    def __init__(self, config: LLMConfig, *, cache_namespace: str | None = None) -> None:
        self.config = config
        self._clients = Clients({"model": config.endpoint})
        self._namespace = cache_namespace or ""
        folder = here() / ".assay" / "llm_cache" if str(config.cache_dir) == CACHE_DIR else Path(config.cache_dir)
        self._folder = folder / self._namespace if self._namespace else folder
        self._hits = 0
        self._misses = 0

    async def generate(
        self,
        system_prompt: str,
        user_prompt: str,
        response_format: type[T] | None = None,
        use_cache: bool | None = None,
        return_thinking: bool = False,
        return_result: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The model's answer: text, an instance of `response_format`, or all of it as a GenerateResult.

        Keywords are settings of the LLMConfig that hold for this call only. A reply that does not fit the format is
        asked for once more, with the problem named.
        """
        config = replace(self.config, **kwargs) if kwargs else self.config
        clients = self._clients if config.endpoint == self.config.endpoint else Clients({"model": config.endpoint})
        messages: tuple[Item, ...] = (
            {"type": "message", "role": "system", "content": system_prompt},
            {"type": "message", "role": "user", "content": user_prompt},
        )
        schema = None if response_format is None else response_format.model_json_schema()
        request = Request(messages=messages, sampling=config.sampling, schema=schema)
        cached = self.config.cache_enabled if use_cache is None else use_cache
        result = await self._answer(request, config, clients, response_format, cached=cached)
        if return_result or return_thinking:
            return result
        return result.content if response_format is None else result.parsed

    async def _answer(
        self, request: Request, config: LLMConfig, clients: Clients, response_format: type[T] | None, *, cached: bool
    ) -> GenerateResult:
        path = self._path(request, config)
        if cached:
            cached_reply = self._cached_reply(path)
            if cached_reply is not None:
                self._hits += 1
                usage = TokenUsage(**cached_reply["usage"])
                parsed = _parsed(cached_reply["content"], response_format)
                return GenerateResult(
                    cached_reply["content"], cached_reply["thinking"], cached_reply, usage, 0.0, parsed
                )
            self._misses += 1
        async with clients.asking() as ask:
            reply = await ask(request, "model")
            try:
                parsed = _parsed(_text(reply), response_format)
            except RunError as problem:
                messages: tuple[Item, ...] = (
                    *request.messages,
                    {"type": "message", "role": "assistant", "content": reply.text or "(no reply)"},
                    {"type": "message", "role": "user", "content": f"{problem} Answer again."},
                )
                reply = await ask(replace(request, messages=messages), "model")
                parsed = _parsed(_text(reply), response_format)
        text, usage = _text(reply), TokenUsage.of(reply.usage)
        cost = clients.cost_usd({"model": reply.usage})
        if cached:
            document = {
                "content": text,
                "thinking": reply.reasoning,
                "usage": {
                    "prompt_tokens": usage.prompt_tokens,
                    "completion_tokens": usage.completion_tokens,
                    "total_tokens": usage.total_tokens,
                },
            }
            # replies may hold whatever the prompts hold: the folder is for the user alone
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(orjson.dumps(document))
        return GenerateResult(text, reply.reasoning, reply, usage, None if cost is None else float(cost), parsed)

    def _path(self, request: Request, config: LLMConfig) -> Path:
        endpoint = [str(config.model), config.api_base, dict(config.extra_headers), dict(config.extra_params)]
        content = json.dumps(
            [list(request.messages), request.schema, endpoint, repr(request.sampling)], sort_keys=True, default=str
        )
        return self._folder / f"{hashlib.sha256(content.encode()).hexdigest()}.json"

    def _cached_reply(self, path: Path) -> dict[str, Any] | None:
        """Return a cached reply that has not expired; an unreadable file counts as missing."""
        try:
            if self.config.cache_ttl is not None and time.time() - path.stat().st_mtime > self.config.cache_ttl:
                return None
            stored: dict[str, Any] = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return stored

    def cache_stats(self) -> dict[str, Any]:
        """Return the number and size of cached replies, and this client's number of hits."""
        files = list(self._folder.glob("*.json")) if self._folder.is_dir() else []
        return {
            "enabled": self.config.cache_enabled,
            "size": sum(file.stat().st_size for file in files),
            "count": len(files),
            "directory": str(self._folder),
            "hits": self._hits,
            "misses": self._misses,
        }

    def clear_cache(self) -> int:
        """Delete all cached replies and return their number."""
        files = list(self._folder.glob("*.json")) if self._folder.is_dir() else []
        for file in files:
            file.unlink()
        return len(files)

    def close(self) -> None:
        """Do nothing: no connection stays open between calls."""


def _text(reply: Reply) -> str:
    if reply.text is None:
        raise RunError(f"the model gave no answer: {reply.refusal or reply.finish_reason or 'the reply is empty'}.")
    return reply.text


def _parsed(text: str, response_format: type[T] | None) -> T | None:
    """Parse the reply into the requested format: the last JSON object in it that fits."""
    if response_format is None:
        return None
    problem = "there is no JSON object in it"
    for candidate in reversed(list(objects_in(text))):
        try:
            return response_format.model_validate(candidate)
        except ValidationError as error:
            problem = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors())
    raise RunError(f"the reply does not fit {response_format.__name__}: {problem}.")


@overload
async def generate(
    system_prompt: str, user_prompt: str, model: str, response_format: None = None, **kwargs: Any
) -> str: ...
@overload
async def generate(system_prompt: str, user_prompt: str, model: str, response_format: type[T], **kwargs: Any) -> T: ...
async def generate(
    system_prompt: str, user_prompt: str, model: str, response_format: type[BaseModel] | None = None, **kwargs: Any
) -> Any:
    """Ask a model once: text, or an instance of `response_format`; keywords are settings of the LLMConfig."""
    return await LLMClient(LLMConfig(model, **kwargs)).generate(system_prompt, user_prompt, response_format)


class RateLimitPool:
    """Semaphores by model, for programs that make their own calls; assay's calls have limits per endpoint."""

    _instance: ClassVar[RateLimitPool | None] = None

    def __init__(self) -> None:
        self._limits: dict[str, int] = {}
        self._semaphores: dict[str, asyncio.Semaphore] = {}

    @classmethod
    def get_instance(cls) -> RateLimitPool:
        """The pool of the process."""
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    @classmethod
    def reset_instance(cls) -> None:
        """Forget the pool of the process."""
        cls._instance = None

    @classmethod
    def reset(cls) -> None:
        """Forget all limits of the pool of the process."""
        cls.reset_instance()

    async def get_semaphore(self, model: str, max_parallel: int | None) -> asyncio.Semaphore | None:
        """Return the semaphore of a model; the first limit applies, None means no limit."""
        if max_parallel is None:
            return None
        if model not in self._semaphores:
            self._limits[model] = max_parallel
            self._semaphores[model] = asyncio.Semaphore(max_parallel)
        return self._semaphores[model]

    def get_current_limit(self, model: str) -> int | None:
        """Return the limit of a model; None without one."""
        return self._limits.get(model)
