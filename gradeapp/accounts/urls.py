"""Login, logout, password change. There is no registration: admins make accounts."""

from django.contrib.auth import views
from django.urls import path

from gradeapp.accounts.views import GradeappLoginView

urlpatterns = [
    path("login/", GradeappLoginView.as_view(), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
    path("password/", views.PasswordChangeView.as_view(), name="password_change"),
    path("password/done/", views.PasswordChangeDoneView.as_view(), name="password_change_done"),
]
