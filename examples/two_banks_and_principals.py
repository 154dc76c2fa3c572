"""Two banks that share nothing, and one bank that two people read differently.

    python examples/two_banks_and_principals.py

Everything happens in a temporary folder, by words alone and without a network.
"""

from __future__ import annotations

import tempfile

import simonides


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, simonides.open(folder, embedder=None) as store:
        # Banks are separate files: neither rows nor statistics cross over.
        store.bank("garden").retain("The greenhouse heater runs on oil.")
        store.bank("office").retain("The heater in room 4 is broken.")
        for name in store.list_banks():
            print(f"{name}:", [hit.text for hit in store.bank(name).recall("heater")])

        # Inside one bank, `acl` says who may read a memory; without it everyone may.
        owner = store.bank("team")
        _, secret = owner.retain(
            [
                "Tove and Ines plan the summer fair.",
                {"text": "Ines plans a surprise for the fair.", "acl": ["ines"]},
            ]
        )
        ines = store.bank("team", principal="ines")
        tove = store.bank("team", principal="tove")
        print("ines:", len(ines.recall("Who plans the fair?")))
        print("tove:", len(tove.recall("Who plans the fair?")))

        # What someone may not read does not exist for them.
        try:
            tove.get_memory(secret)
        except simonides.SimonidesError as error:
            print("refused:", type(error).__name__)
        print("tove forgets:", tove.forget(secret))
        print("owner still has:", owner.get_memory(secret).text)


if __name__ == "__main__":
    main()
