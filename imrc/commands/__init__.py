"""The command line: each command has a function with its options and one that runs it; `imrc.cli` has the parser.

Settings, limits and help texts are those of the pages. No other package of `imrc` imports from here.
"""
