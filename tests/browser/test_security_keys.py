"""A security key in a real browser: added, used to log in and to confirm, and said to be wrong."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import Page, expect

from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.factories import PASSWORD

KEY = {"protocol": "ctap2", "transport": "usb", "hasUserVerification": True,
       "isUserVerified": True, "automaticPresenceSimulation": True}  # fmt: skip


def with_key(page: Page) -> None:
    """Give the browser of *page* a virtual security key."""
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})


@pytest.fixture
def insecure(settings: Any) -> None:
    """Keys work on loopback without HTTPS, as in the demo."""
    settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True


def test_a_key_is_added_used_and_a_wrong_one_is_said(
    site: Site, admin: User, insecure: None
) -> None:
    page = site.open()
    with_key(page)
    site.log_in(page, admin)
    page.goto("/account/second-factor/webauthn/add/")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.get_by_role("button", name="Add key").click()
    page.wait_for_url(lambda url: "/add/" not in url)
    assert Authenticator.objects.filter(user=admin, type="webauthn").count() == 1
    page.goto("/account/second-factor/webauthn/add/")
    page.get_by_role("button", name="Add key").click()
    expect(page.get_by_text("This security key is registered already.")).to_be_visible()
    page.context.clear_cookies()
    page.goto("/login/")
    page.fill("input[name=username]", admin.username)
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    expect(page.get_by_role("heading", name="Second step")).to_be_visible()
    page.evaluate("""() => {
        const field = document.querySelector('input[name=credential]');
        field.value = '{"id": 5}';
        field.form.submit();
    }""")
    expect(page.get_by_text("This security key does not fit")).to_be_visible()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Use a security key").click()
    page.wait_for_url(lambda url: "second-factor" not in url and "/login/" not in url)
    expect(page.get_by_text(admin.display_name).first).to_be_visible()
    page.goto("/account/second-factor/webauthn/reauthenticate/")
    page.get_by_role("button", name="Use a security key").click()
    page.wait_for_url(lambda url: "reauthenticate" not in url)


def test_who_needs_a_factor_first_can_add_one_and_do_nothing_else(
    site: Site, admin: User, settings: Any
) -> None:
    """A form asks first whether its person has something to do; here they do it."""
    settings.SECOND_FACTOR_ROLES = ["admin"]
    page = site.open()
    site.log_in(page, admin)
    page.goto("/people/invite/")
    expect(page.get_by_role("heading", name="Second factor").first).to_be_visible()
    page.goto("/account/second-factor/totp/activate/")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.locator("main input[name=code]").fill("000000")
    page.locator("main input[name=code]").press("Enter")
    expect(page.get_by_text("The code is wrong")).to_be_visible()


@pytest.mark.parametrize("left", [False, True])
def test_what_waits_for_a_key_is_done_unless_it_was_left(
    left: bool, site: Site, admin: User, teacher: User, insecure: None, settings: Any
) -> None:
    """With another page it is forgotten, as where the password is asked for."""
    page = site.open()
    with_key(page)
    site.log_in(page, admin)
    page.goto("/account/second-factor/webauthn/add/")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.get_by_role("button", name="Add key").click()
    page.wait_for_url(lambda url: "/add/" not in url)
    page.goto(f"/people/{teacher.pk}/")
    cookies = {one["name"]: one["value"] for one in page.context.cookies()}
    session = SessionStore(cookies[settings.SESSION_COOKIE_NAME])
    del session["account_authentication_methods"]
    session.save()
    settings.CONFIRM_CHANGES = True
    page.get_by_role("button", name="Deactivate").click()
    page.get_by_role("link", name="Use a security key").click()
    address = page.url
    if left:
        page.goto("/runs/")
        page.goto(address)
    page.get_by_role("button", name="Use a security key").click()
    page.wait_for_url(lambda url: "reauthenticate" not in url)
    assert User.objects.get(pk=teacher.pk).is_active == left
