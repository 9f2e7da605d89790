"""The project of gradeapp: settings, routes, and what its parts share.

A process that loads it makes some hundred thousand objects at once, nearly all of which live as
long as it does. With the usual thresholds the collector of cycles looks through them hundreds of
times: a fifth of the time of a start.
"""

import gc

gc.set_threshold(50_000, 20, 20)
