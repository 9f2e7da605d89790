"""Login, logout, the own password, second factors and sessions. There is no registration."""

from allauth.account.views import reauthenticate
from django.contrib.auth import views
from django.urls import include, path

from gradeapp.accounts import people_views
from gradeapp.accounts.factor_views import AddApp, ConfirmByKey, RemoveApp, RemoveKey
from gradeapp.accounts.single_sign_on import end_sign_on, start_sign_on
from gradeapp.accounts.token_views import token_revoke, tokens
from gradeapp.accounts.views import LoginView, LogoutView, PasswordView, session

urlpatterns = [
    path("login/", LoginView.as_view(), name="login"),
    path("session/", session, name="session"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", PasswordView.as_view(), name="password_change"),
    path("password/done/", views.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("password/forgot/", people_views.forgot, name="password_forgot"),
    path("invitation/<str:token>/", people_views.invitation, name="invitation"),
    path("reset/<str:token>/", people_views.reset, name="reset"),
    path("people/", people_views.people_list, name="people"),
    path("people/invite/", people_views.invite, name="people-invite"),
    path(
        "people/invitations/<int:pk>/withdraw/",
        people_views.withdraw_invitation,
        name="people-withdraw",
    ),
    path("people/<int:pk>/", people_views.person, name="person"),
    path("people/<int:pk>/<slug:change>/", people_views.person_change, name="person-change"),
    # Names that allauth asks for
    path("login/", LoginView.as_view(), name="account_login"),
    path("account/confirm/", reauthenticate, name="account_reauthenticate"),
    path("account/second-factor/totp/activate/", AddApp.as_view(), name="mfa_activate_totp"),
    path("account/second-factor/totp/deactivate/", RemoveApp.as_view(), name="mfa_deactivate_totp"),
    path(
        "account/second-factor/webauthn/keys/<int:pk>/remove/",
        RemoveKey.as_view(),
        name="mfa_remove_webauthn",
    ),
    path(
        "account/second-factor/webauthn/reauthenticate/",
        ConfirmByKey.as_view(),
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/second-factor/", include("allauth.mfa.urls")),
    # Without a provider in the settings these answer 404.
    path("account/oidc/<slug:provider_id>/login/", start_sign_on, name="openid_connect_login"),
    path(
        "account/oidc/<slug:provider_id>/login/callback/",
        end_sign_on,
        name="openid_connect_callback",
    ),
    path("account/sessions/", include("allauth.usersessions.urls")),
    path("tokens/", tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", token_revoke, name="token_revoke"),
]
