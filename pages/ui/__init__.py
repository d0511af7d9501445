"""Helpers shared by the pages: settings, running, charts. They show things; computing is done in `imrc`."""
