"""The project of gradeapp: settings, routes, and what its parts share.

A process that loads it makes some 200,000 objects at once, nearly all of which live as long as it
does. With the usual thresholds the collector of cycles runs 564 times meanwhile, with these seven
times, and a start takes an eighth less time. A web worker grows to 251 MB, before to 245 MB.
"""

import gc

gc.set_threshold(50_000, 20, 20)
