"""Tools that are read by a declaration, a module each with ``FORMAT``: nothing else is written for them."""
