"""Stand-ins for authors of plug-ins: an embedder without weights, a clock that stands still, fakes."""
