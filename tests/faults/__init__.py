"""Fault tests: ``make faults``. Each starts the database, broker, web and worker that it needs."""
