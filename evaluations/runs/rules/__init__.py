"""Rules about who holds work."""
