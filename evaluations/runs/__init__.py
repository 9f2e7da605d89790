"""Runs: the engine that sends prompts to models and stores what comes back.

Endpoints, frozen run settings, planning, claiming jobs under a lease, attempts, budgets, retries,
pauses, and the pages and the API of runs and responses.

Tables: LanguageModel, Endpoint, Run, Job, Attempt, Response.
Other features may call: services.runs (start, stop, resume, retry_failed), services.run_starts,
selectors.runs and selectors.responses, forms.choices, tasks.ask_for_work.
Imports no other feature; what a run is for is a run kind, registered by the feature it belongs to.
"""
