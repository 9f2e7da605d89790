"""The page of prompt settings: rates under each beside the others, and what one gains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluations.conditions import PromptSetting
from evaluations.reports.forms import SettingsFilter
from evaluations.reports.rules.setting_tables import gain_groups, setting_groups, settings_bar
from evaluations.reports.selectors.prompt_settings import GAINS, SETTINGS, settings_key
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.reports import build_report
from evaluations.reports.services.exports import note_look
from evaluations.reports.views.cut_words import KEYS, value_names
from evaluations.reports.views.cuts import OFFERED, common
from evaluations.reports.views.nothing import nothing_answered
from evaluations.statistics.settings import COMPARED
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.choices import label

# A row for each question would be thousands; the files have them.
KEYS_OFFERED = tuple(key for key in OFFERED if key not in ("question", "part"))


@require_safe
@requires(Capability.SEE_REPORTS)
def report_settings(request: MemberRequest) -> HttpResponse:
    """Show the rates under each prompt setting, and the gains of examples and of reasoning."""
    offered = choices(request.GET.get("dataset", ""), request.GET.getlist("round"))
    if (nothing := nothing_answered(request, offered, "settings")) is not None:
        return nothing
    form = SettingsFilter(request.GET, offered)
    key = settings_key(request.GET.get("by", ""))
    params = replace(form.params(), by=key)
    report, gained = (build_report(name, params) for name in (SETTINGS, GAINS))
    note_look(params, acting_user=request.user, report=SETTINGS)
    names = value_names(report, (key,))[key]
    words = {one.value: label(PromptSetting, one) for one in PromptSetting}
    stands = cast(dict[str, dict[str, str]], report.params["settings"])
    used = [one for one in words if any(one in own for own in stands.values())]
    groups = setting_groups(report, key, used, stands)
    context: dict[str, Any] = common(request, offered, form, params)
    context |= {
        "report": report,
        "offered": [(one, KEYS[one]) for one in KEYS_OFFERED],
        "keys": (key,),
        "key_name": KEYS[key],
        "names": names,
        "words": words,
        "used": used,
        "groups": [
            (group, settings_bar(group, used, names, words, context["colours"])) for group in groups
        ],
        "compared": [(words[after], words[before]) for after, before in COMPARED],
        "gained": gain_groups(gained, key),
    }
    return render(request, "evaluations/reports/settings.html", context)
