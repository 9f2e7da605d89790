"""The floor of the desk: the least that Django can do for a save. Never part of the product."""
