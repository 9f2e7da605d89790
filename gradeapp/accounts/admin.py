"""People in the admin of Django: who may change whom, and what is written down about it.

Only superusers touch superusers, rights and passwords. Nobody changes their own groups. Whoever
runs exams does not mark them: admin and teacher do not go together. As on the pages of people
(``people.py``), a change asks for the own password again, and changed rights end sessions.
"""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Field
from django.forms import CharField, HiddenInput, ModelForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.confirmation import check_confirmed
from gradeapp.accounts.models import User
from gradeapp.accounts.open_links import end_dead_links, end_reset_links
from gradeapp.accounts.people import (
    check_still_manages,
    digest_of,
    is_taken,
    keep_an_admin,
    one_change_of_people_at_a_time,
    state,
)
from gradeapp.accounts.roles import Role
from gradeapp.accounts.sessions import end_all_of
from gradeapp.accounts.tokens import narrow_tokens, revoke_all
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.name_checks import validate_plain_name
from gradeapp.operators import OwnFilters

NAMES = ("username", "display_name", "first_name", "last_name")
RIGHTS = {"groups", "permissions", "is_active", "is_staff", "is_superuser"}
COLUMNS = {field.name for field in User._meta.concrete_fields}


class FreeUsername:
    """A new username is nobody else's, in any case, nor their mail address: as by an invitation."""

    def clean_username(self: Any) -> str:
        name = str(self.cleaned_data["username"])
        if "username" in self.changed_data and is_taken(name, but=self.instance):
            raise ValidationError(_("This username is taken. Choose another one."), code="taken")
        return name


class AddForm(FreeUsername, AdminUserCreationForm):
    """Django's form of a new person."""


class PersonForm(FreeUsername, UserChangeForm):
    """Django's form of a person, which keeps roles apart that do not go together.

    It knows the state that its page showed, and changes no other.
    """

    seen = CharField(widget=HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "seen" in self.fields:  # not on a page that shows a person only
            self.fields["seen"].initial = digest_of(self.instance)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("seen") != digest_of(self.instance):
            raise ValidationError(
                _("Somebody else has changed this person since. Open the page again."),
                code="changed_meanwhile",
            )
        groups = cleaned.get("groups", self.instance.groups.all())
        names = {group.name for group in groups}
        operates = Role.ADMIN.value in names or cleaned.get(
            "is_superuser", self.instance.is_superuser
        )
        if operates and Role.TEACHER.value in names:
            raise ValidationError(
                _("An admin or superuser cannot be a teacher: who runs exams does not mark them."),
                code="roles_apart",
            )
        return cleaned


@admin.register(User)
class GradeappUserAdmin(OwnFilters, UserAdmin):
    """People: made, changed and set inactive, never deleted."""

    form = PersonForm
    add_form = AddForm
    list_display = ("username", "display_name", "is_active", "is_staff", "is_demo", "last_login")
    fieldsets = (*(UserAdmin.fieldsets or ()), ("gradeapp", {"fields": ("display_name",)}))

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """The fields of a person; where they can be changed, with the state that is shown."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        return (*fieldsets, (None, {"fields": ("seen",)}))

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest | None, **kwargs: Any
    ) -> Any:
        """Refuse names that can pass for another (``validate_plain_name``)."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name in NAMES:
            field.validators.append(validate_plain_name)
        return field

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        """What stays as it is: rights for all but superusers, one's own roles for everybody."""
        fixed = ["last_login", "date_joined"]
        own = obj is not None and obj.pk == request.user.pk
        if not request.user.is_superuser:
            # Mail leads to a new password: who changes an address can log in as its person.
            fixed += ["is_superuser", "user_permissions", "is_staff", *(["email"] if obj else [])]
        if own:
            fixed += ["groups", "is_superuser", "user_permissions", "is_staff", "is_active"]
        return sorted(set(fixed))

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Whether the person of *request* may change *obj*: a superuser only by another."""
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or not obj.is_superuser or request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form of a person: what is sent waits for the own password, and for other changes.

        It names its address: after the confirmation it is shown at another one.
        """
        form_url = form_url or request.path
        if request.method != "POST":
            return super().changeform_view(request, object_id, form_url, extra_context)
        check_confirmed(request)
        with transaction.atomic():
            # Before the person is read, who is then compared with what the page showed.
            one_change_of_people_at_a_time()
            check_still_manages(cast(User, request.user))
            return super().changeform_view(request, object_id, form_url, extra_context)

    @transaction.atomic
    def user_change_password(
        self, request: HttpRequest, id: str, form_url: str = ""
    ) -> HttpResponse:
        """The page for the password of another person: superusers only, and written down."""
        person = self.get_object(request, unquote(id))  # "01" is the key 1 too
        if person == request.user:
            return redirect("password_change")
        if not request.user.is_superuser:
            raise PermissionDenied
        if request.method == "POST":
            check_confirmed(request)
            one_change_of_people_at_a_time()
            check_still_manages(cast(User, request.user))
        if person is None:
            raise Http404
        # Locked: Django reads the person next, and writes every column after it has hashed.
        rows = User.objects.select_for_update().filter(pk=person.pk)
        before = rows.values_list("password", flat=True).get()
        response = super().user_change_password(request, id, form_url or request.path)
        person.refresh_from_db()
        if person.password != before:
            # Somebody else knows it: it serves for one login, if there is one at all.
            User.objects.filter(pk=person.pk).update(
                must_change_password=person.has_usable_password()
            )
            end_reset_links(person)
            record(Tag.PASSWORD_CHANGED, person, actor=request.user, request=request, by="another")
        return response

    def save_model(
        self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool
    ) -> None:
        """Save what was changed, and keep what was before for ``save_related``."""
        request.person_before = None  # type: ignore[attr-defined]
        if change:
            request.person_before = state(User.objects.get(pk=obj.pk))  # type: ignore[attr-defined]
            # Their own password, say, may be another since they were read.
            obj.save(update_fields=COLUMNS.intersection(form.changed_data))
            return
        obj.must_change_password = obj.has_usable_password()
        super().save_model(request, obj, form, change)

    def save_related(
        self, request: HttpRequest, form: ModelForm[User], formsets: Any, change: bool
    ) -> None:
        """Save the groups and write down what has changed."""
        super().save_related(request, form, formsets, change)
        person, before = form.instance, request.person_before  # type: ignore[attr-defined]
        if "groups" in form.changed_data and not person.is_superuser:
            # As on the page of people.
            person.is_staff = person.groups.filter(name=Role.ADMIN.value).exists()
            person.save(update_fields=["is_staff"])
        after = state(person)
        by: dict[str, Any] = {"actor": request.user, "request": request}
        if before is None:
            record(Tag.PERSON_ADDED, person, **by, **after)
            return
        changed = {
            name: [before[name], after[name]] for name in after if before[name] != after[name]
        }
        if changed.keys() & RIGHTS:
            keep_an_admin()
            if person.is_active:
                narrow_tokens(person, after["groups"])
            else:
                revoke_all(person, acting_user=cast(User, request.user))
            if ended := end_all_of(person):
                record(Tag.SESSIONS_ENDED, person, **by, sessions=ended)
        end_dead_links(person, acting_user=cast(User, request.user))
        if roles := changed.pop("groups", None):
            record(Tag.ROLES_CHANGED, person, **by, before=roles[0], after=roles[1])
        if changed.pop("is_active", None):
            record(Tag.ACTIVATED if person.is_active else Tag.DEACTIVATED, person, **by)
        if changed:
            record(Tag.PERSON_CHANGED, person, **by, changed=changed)


admin.site.unregister(Group)


@admin.register(Group)
class RoleAdmin(OwnFilters, GroupAdmin):
    """The groups of ``roles.py``: made by ``sync_roles``, changed by nobody."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return False
