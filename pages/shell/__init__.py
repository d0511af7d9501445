"""What all pages share: frame, sidebar, link, runs, server."""
