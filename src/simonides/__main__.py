"""``python -m simonides`` is the command ``simonides``."""

from simonides.surfaces.cli.main import main

if __name__ == "__main__":
    main()
