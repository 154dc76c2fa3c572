"""The language model that the settings name, for commands that ask one.

``SIMONIDES_LLM_MODEL`` names it, ``SIMONIDES_LLM_BASE_URL`` its server (default: OpenAI's), and the key is
read from ``SIMONIDES_LLM_API_KEY``; for OpenAI's own server ``OPENAI_API_KEY`` does as well.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from simonides.errors import InputError

if TYPE_CHECKING:
    from simonides.models.llm import LanguageModel

_KEY = "SIMONIDES_LLM_API_KEY"
_COMMON_KEY = "OPENAI_API_KEY"


def environment_model() -> LanguageModel | None:
    """The model, or ``None`` where none is named."""
    from simonides.models.llm import DEFAULT_BASE_URL, LanguageModel
    from simonides.surfaces.cli.configuration import value_of

    name = str(value_of("llm.model") or "").strip()
    if not name:
        return None
    url = str(value_of("llm.base_url") or "").strip() or DEFAULT_BASE_URL
    check_offline(url, "SIMONIDES_LLM_BASE_URL")
    # Below the time that a server gives a request, so that the model's own error is told.
    return LanguageModel(name, url, api_key(needed=url == DEFAULT_BASE_URL), timeout_seconds=50.0)


def api_key(*, needed: bool) -> str:
    """The key; OpenAI's own is sent to no other server."""
    key = os.environ.get(_KEY, "").strip()
    if key or not needed:
        return key
    key = os.environ.get(_COMMON_KEY, "").strip()
    if not key:
        raise InputError(_KEY, f"is not set, nor is {_COMMON_KEY}; set one, or name your server's base URL")
    return key


def check_offline(url: str, name: str) -> None:
    """Refuse a server elsewhere where the environment forbids the network; *name* is what gave the *url*."""
    from simonides.http_clients import is_loopback
    from simonides.models.resolve import offline_by_environment

    if offline_by_environment() and not is_loopback(urlsplit(url).hostname):
        raise InputError(name, f"{url!r} is not on this machine, and SIMONIDES_OFFLINE is set; unset it")
