"""The paper: its tables and figures, measured again."""
