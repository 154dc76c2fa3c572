"""The page of a store: served by the HTTP interface at /ui, written in plain ES modules."""
