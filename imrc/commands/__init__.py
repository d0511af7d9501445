"""The command line: one module per command, each with `add_parser` and `run`; the parser is in `imrc.commands.main`.

Settings, limits and help texts are those of the pages. No other package of `imrc` imports from here.
"""
