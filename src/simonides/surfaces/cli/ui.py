"""`simonides ui`: the page of a store in the browser."""

import sys
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from simonides.errors import UnknownNameError
from simonides.surfaces.cli.language_model import environment_model
from simonides.surfaces.cli.opening import environment_embedder, store_path, zone_choice
from simonides.surfaces.cli.options import StoreOption, ZoneOption, option
from simonides.surfaces.cli.output import print_text, say
from simonides.surfaces.cli.progress import bars
from simonides.surfaces.cli.serve import address_of, check_extra, listen_at, run_server

_HOST = "127.0.0.1"
_BANK = "default"


def ui(
    *,
    port: Annotated[
        int, option("--port N", "Port on 127.0.0.1; 0 = any that is free.", min=0, max=65535)
    ] = 0,
    browser: Annotated[bool, option("--browser/--no-browser", "Open the browser.")] = True,
    read_only: Annotated[bool, option("--read-only", "Nothing can be changed on the page.")] = False,
    demo: Annotated[
        bool, option("--demo", "Show the journal of `simonides demo`, in a temporary store.")
    ] = False,
    export: Annotated[
        Path | None,
        option("--export FILE", "Write the bank as one page that opens from disk, and end."),
    ] = None,
    zone: ZoneOption = None,
    store: StoreOption = None,
    bank: Annotated[str, option("--bank NAME", "Bank to show first.", envvar="SIMONIDES_BANK")] = _BANK,
) -> None:
    """Open the page of a store: ask, browse, correct and delete what it remembers.

    The page is served on this machine alone, until Ctrl+C. The link signs one browser in, once.
    """
    import webbrowser
    from urllib.parse import quote

    check_extra()
    from simonides.store import open_store
    from simonides.surfaces.demo.demo import BANK, retain_journal
    from simonides.surfaces.operations.table import Verb
    from simonides.surfaces.page.exporting import write_page
    from simonides.surfaces.page.routes import ENTER
    from simonides.surfaces.rest.app import make_app
    from simonides.surfaces.rest.settings import Settings
    from simonides.surfaces.serving.grants import EVERY_BANK, Grant

    folder = TemporaryDirectory(prefix="simonides-demo-") if demo else nullcontext(store_path(store))
    with (
        folder as path,
        open_store(
            path,
            embedder=environment_embedder(),
            answerer=environment_model(),
            **zone_choice(zone),
            warm=True,
        ) as opened,
    ):
        if demo:
            bank = BANK
            with bars() as progress:
                retain_journal(opened.bank(bank), progress)
        banks = opened.list_banks()
        # The first memory makes a bank where there is none.
        name = bank if bank in banks or not banks else _instead(bank, banks, only=export is not None)
        shown = opened.bank(name)
        if export is not None:
            count = write_page(shown, export)
            say(f"{count:,} memories written to {export}; open it in a browser")
            return
        settings = Settings()
        app = make_app(opened, settings)
        verbs = frozenset({Verb.READ}) if read_only else frozenset(Verb)
        code = app.state.sessions.link(Grant("ui", None, (EVERY_BANK,), verbs))
        with listen_at(_HOST, port) as listening:
            # The part after # is the page's own and is sent to no server.
            link = f"{address_of(_HOST, listening)}{ENTER}?code={code}#/{quote(name, safe='')}/ask"
            print_text(f"{link}\nopens the page of {opened.folder} once; Ctrl+C ends it")
            sys.stdout.flush()
            if browser:
                webbrowser.open(link)
            run_server(app, settings, listening)


def _instead(bank: str, banks: list[str], *, only: bool) -> str:
    """The bank in place of the usual one, which is not there; *only* = where no other could be meant.

    ``UnknownNameError``: a bank was named that is not there, or several could be meant.
    """
    if bank == _BANK and (len(banks) == 1 or not only):
        return banks[0]
    raise UnknownNameError("bank", bank, banks)
