from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from gradeapp.accounts.models import User


@admin.register(User)
class GradeappUserAdmin(UserAdmin):
    list_display = ("username", "display_name", "is_active", "is_staff", "last_login")
    fieldsets = (*(UserAdmin.fieldsets or ()), ("gradeapp", {"fields": ("display_name",)}))
