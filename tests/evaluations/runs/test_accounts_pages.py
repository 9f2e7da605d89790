"""Pages of presets, provider accounts and spending, and the API of endpoints."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.models import Endpoint, ProviderAccount, Run, SpendingCap
from evaluations.runs.rules.presets import PRESETS
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from tests.evaluations.run_world import planned

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


def test_a_preset_fills_in_the_form_and_names_no_price(client: Client) -> None:
    names = [one.name for one in PRESETS]
    assert len(set(names)) == len(names)
    for one in PRESETS:
        page = client.get(reverse("runs:endpoint-new"), {"preset": one.name}).content.decode()
        assert one.base_url in page
        assert one.title in page
    form = client.get(reverse("runs:endpoint-new"), {"preset": "deepseek"}).context["form"]
    assert form["key_variable"].value() == "DEEPSEEK_API_KEY"
    assert form["price_input"].value() == 0


def test_endpoints_share_an_account_by_its_page(client: Client, endpoint: Endpoint) -> None:
    made = client.post(
        reverse("runs:account-new"),
        {"name": "shared", "max_in_flight": "64", "requests_per_minute": "600"},
    )
    assert made.status_code == 302
    shared = ProviderAccount.objects.get(name="shared")
    assert (shared.max_in_flight, shared.requests_per_minute) == (64, 600)
    assert shared.tokens_per_minute is None
    assert AuditEntry.objects.filter(tag="account.limits").exists()
    address = reverse("runs:account", args=[shared.pk])
    assert client.post(address, {"name": "scripted"}).status_code == 400, "the name is taken"
    assert client.post(address, {"name": "s", "max_in_flight": "0"}).status_code == 400
    assert client.post(address, {"name": "s"}).status_code == 302
    shared.refresh_from_db()
    assert (shared.name, shared.max_in_flight, shared.version) == ("s", None, 2)
    page = client.get(reverse("runs:endpoints")).content.decode()
    assert address in page


def test_caps_are_set_by_currency(client: Client, endpoint: Endpoint) -> None:
    address = reverse("runs:spending")
    form = {"prefix": "CNY", "CNY-currency": "CNY", "CNY-per_month": "12.5", "CNY-in_total": ""}
    assert client.post(address, form).status_code == 302
    cap = SpendingCap.objects.get()
    assert (cap.currency, cap.per_month, cap.in_total) == ("CNY", Decimal("12.5"), None)
    assert 'value="12.5"' in client.get(address).content.decode()
    assert client.post(address, {**form, "CNY-per_month": "-1"}).status_code == 400


def hidden(page: str, name: str) -> str:
    """The value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found
    return found[1]


def test_an_older_page_takes_no_limit_away(client: Client, endpoint: Endpoint) -> None:
    """An admin's cap of a month was gone once a colleague saved a cap in total from before."""
    spending, account = (
        reverse("runs:spending"),
        reverse("runs:account", args=[endpoint.account_id]),
    )
    before = {one: client.get(one).text for one in (spending, account)}
    caps = {"prefix": "CNY", "CNY-currency": "CNY"}
    named = {"name": endpoint.account.name}
    caps |= {"CNY-seen": hidden(before[spending], "CNY-seen")}
    named |= {"seen": hidden(before[account], "seen")}
    assert client.post(spending, caps | {"CNY-per_month": "5"}).status_code == 302
    assert client.post(account, named | {"requests_per_minute": "60"}).status_code == 302
    for where, old, name, new in (
        (spending, caps, "CNY-in_total", "50"),
        (account, named, "tokens_per_minute", "90000"),
    ):
        refused = client.post(where, old | {name: new})
        assert (refused.status_code, "Somebody has saved these limits" in refused.text) == (
            400,
            True,
        )
        assert f'value="{new}"' in refused.text, "what was typed stays"
        seen = "CNY-seen" if "CNY-seen" in old else "seen"
        assert (
            client.post(where, old | {name: new, seen: hidden(refused.text, seen)}).status_code
            == 302
        )
    cap = SpendingCap.objects.get()
    assert (cap.per_month, cap.in_total) == (None, 50), "who has read the sentence may replace it"
    limits = ProviderAccount.objects.get(pk=endpoint.account_id)
    assert (limits.requests_per_minute, limits.tokens_per_minute) == (None, 90_000)


def test_the_page_of_a_new_run_names_the_same_run(client: Client, endpoint: Endpoint) -> None:
    run = planned(endpoint, 2)
    form = {"endpoint": endpoint.pk, "dataset": run.dataset.slug, "repeats": "1", "shown": "2"}
    form |= {
        name: value
        for name, value in client.get(reverse("runs:new")).context["form"].initial.items()
        if value is not None and name not in form
    }
    again = client.post(reverse("runs:new"), form)
    if again.status_code == 302:  # the form's usual values differ from those of the service
        run = Run.objects.latest("pk")
        again = client.post(reverse("runs:new"), {**form, "key": ""})
    page = again.content.decode()
    assert again.status_code == 400
    assert reverse("runs:run", args=[run.pk]) in page
    assert "Start anyway" in page
    assert client.post(reverse("runs:new"), {**form, "key": "", "anyway": "1"}).status_code == 302
    assert client.post(reverse("runs:pause", args=[run.pk])).status_code == 302
    run.refresh_from_db()
    assert run.pause_reason == "by_person"
    assert "paused by a person" in client.get(reverse("runs:run", args=[run.pk])).content.decode()


def test_the_api_of_endpoints(client: Client, endpoint: Endpoint) -> None:
    body = {"name": "second", "base_url": endpoint.base_url, "model": "scripted-demo"}
    address = reverse("api-endpoints")
    made = client.post(address, body, content_type="application/json")
    assert (made.status_code, made.json()["account"]) == (201, "second")
    assert "stored_key" not in made.json()
    assert client.post(address, body, content_type="application/json").status_code == 400
    wrong = {**body, "name": "third", "prize": 1}
    assert client.post(address, wrong, content_type="application/json").status_code == 400
    assert [one["name"] for one in client.get(address).json()["results"]] == ["scripted", "second"]
    one = reverse("api-endpoint", args=[made.json()["id"]])
    assert client.get(one).json()["max_in_flight"] == 8
    check = client.post(reverse("api-endpoint-check", args=[made.json()["id"]])).json()
    assert (check["works"], check["findings"][0]) == (True, "Structured output: works")
