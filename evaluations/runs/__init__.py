"""Runs: the engine that sends prompts to models and stores the replies.

Endpoints, frozen run settings, planning, claiming jobs by leases, attempts, budgets, retries,
pauses, and the pages and the API of runs and responses.

Tables: LanguageModel, Endpoint, PromptSet, PromptSetVersion, Condition, Study, Run, Job, Attempt,
StepReply, Response; ProviderAccount and PermitLease (limits that all workers share), CheckPlace
(places for checks of endpoints), Worker and RunWorker (who works on which run), SpendingCap and
Spending (what calls cost by month).
Other features may call: services.runs (start_run, stop_run, resume_run, retry_failed),
services.run_starts, selectors.runs and selectors.responses, forms.choices, tasks.ask_for_work.
It imports no other feature. The purpose of a run is a run kind, registered by its feature.
"""
