"""HTTP clients: every one that this package opens is made here.

A server on this machine is asked directly, whatever ``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY`` and
``NO_PROXY`` say: a proxy elsewhere cannot reach it, and would see the token and the texts. For other servers
the environment decides. What is wrong in the environment becomes an error of this package.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from simonides.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import urllib.request

ENVIRONMENT = "environment"
"""``InputError.field`` of an error that the environment variables of proxies and certificates cause."""

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def is_loopback(host: str | None) -> bool:
    """Whether *host* can only be this machine: 127.0.0.0/8, ::1, localhost and names below it.

    The unspecified addresses 0.0.0.0 and :: count too, since connecting to them reaches this machine.
    """
    if not host:
        return False
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        try:
            # Short and hexadecimal forms, such as 127.1, which the system's resolver takes too.
            address = ipaddress.IPv4Address(socket.inet_aton(name))
        except (OSError, ValueError):
            return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_unspecified


def http_client(kind: Any, url: str, **options: Any) -> Any:
    """A client of the class *kind* (``httpx.Client`` or one like it), for requests to the server of *url*.

    Raises:
        InputError: the environment names a proxy or certificates that cannot be used; field ``environment``.
        MissingExtraError: the environment names a SOCKS proxy, and the package for these is not installed.
    """
    parts = urlsplit(url)
    library = _library(kind)
    try:
        if is_loopback(parts.hostname):
            # A client with a transport of its own asks no proxy; certificates are as the environment says.
            options = {"transport": library.HTTPTransport(verify=parts.scheme == "https"), **options}
        return kind(**options)
    except Exception as error:
        # Anything: an address of a proxy that cannot be read has an error without a base of its own.
        raise _fault(error) from error


def _library(kind: Any) -> Any:
    """The package that the client's class comes from: httpx or httpx2."""
    for each in kind.__mro__:
        name = each.__module__.partition(".")[0]
        if name in {"httpx", "httpx2"}:
            return importlib.import_module(name)
    raise TypeError(f"{kind!r} is no client of httpx")


def url_opener(url: str, *handlers: Any) -> urllib.request.OpenerDirector:
    """The same for the standard library: opens requests to the server of *url*."""
    # Imported here, because most programs open no URL by it and loading takes milliseconds.
    import urllib.request  # noqa: PLC0415

    if is_loopback(urlsplit(url).hostname):
        handlers = (urllib.request.ProxyHandler({}), *handlers)
    return urllib.request.build_opener(*handlers)


def _fault(error: Exception) -> InputError | MissingExtraError:
    """What is wrong with the variables of proxies and certificates.

    The message repeats no value of a proxy's variable, which may hold a password.
    """
    if isinstance(error, ImportError):
        return MissingExtraError(
            f"{_set(_PROXIES) or 'the environment'}: a SOCKS proxy needs the package socksio; install it by "
            f"pip install 'httpx[socks]', or unset the variable"
        )
    if isinstance(error, OSError):
        given = ", ".join(f"{name}={os.environ[name]!r}" for name in _CERTIFICATES if os.environ.get(name))
        return InputError(
            ENVIRONMENT,
            f"certificates cannot be read ({given or type(error).__name__}); correct or unset the variable",
        )
    return InputError(
        ENVIRONMENT,
        f"{_set(_PROXIES) or 'a proxy'} cannot be used; give an address such as http://proxy.example:3128, "
        f"or unset the variable",
    )


def _set(names: tuple[str, ...]) -> str:
    """Those of *names* that the environment sets, in either case of letters."""
    return ", ".join(each for name in names for each in (name, name.lower()) if os.environ.get(each))
