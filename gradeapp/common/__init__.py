"""What several features share and no feature owns.

Refusals, checks of parameters, closed lists with two names (`named`), background work, celery
helpers, CSV cells and files, tables, chart data, strict JSON, number and time formatting.

Imports nothing of `questions` or `evaluations`. The modules `named`, `csv_cells`, `csv_file`,
`tables`, `charts`, `strict_json`, `plain_number` and `storable` import no Django either.
"""
