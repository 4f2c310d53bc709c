"""People, projects, and the tokens that act for them."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

TOKEN_PREFIX = "bd_"  # noqa: S105 - a mark by which leaked tokens can be found, not a secret
TOKEN_PREFIX_LENGTH = 10  # the part of a token's secret that is shown and logged


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=150, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)  # such as Europe/Berlin; empty: UTC
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(default=timezone.now)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_is_unique_in_any_case")]

    def __str__(self) -> str:
        return self.name or self.email


class Project(models.Model):
    """A set of results with its own members, tokens and visibility."""

    class Visibility(models.TextChoices):
        PUBLIC = "public", "public: anyone may read"
        PRIVATE = "private", "private: members only"

    slug = models.SlugField(max_length=50, unique=True)
    name = models.CharField(max_length=100)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PRIVATE)
    # Shown on every page of the project and under every chart; empty for most projects.
    notice = models.TextField(blank=True)
    is_sample = models.BooleanField(default=False)
    raw_files_are_public = models.BooleanField(default=False)
    # Absolute figures are for members: others see ratios, and what cannot be one is closed to them.
    is_relative_only = models.BooleanField(default=False)
    # Settings of the project; a missing key means the default of benchdash.settings.
    options = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # From then on nobody sees the project, and a job deletes its contents.
    deleting_since = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_public(self) -> bool:
        return self.visibility == self.Visibility.PUBLIC

    @property
    def is_being_deleted(self) -> bool:
        return self.deleting_since is not None


class Role(models.TextChoices):
    """Each role includes the one before it."""

    READER = "reader", "reader: sees the project"
    MEMBER = "member", "member: uploads, triages, corrects"
    ADMIN = "admin", "admin: settings, members, tokens"


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_user")]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"


class Following(models.Model):
    """Whether a person wants a project on their morning page. Members do unless they said no."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="followings")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="followings")
    is_wanted = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "project"], name="one_following_per_project")]

    def __str__(self) -> str:
        return f"{self.user} {'follows' if self.is_wanted else 'does not follow'} {self.project}"


class Scope(models.TextChoices):
    READ = "read", "read"
    UPLOAD = "upload", "upload"
    TRIAGE = "triage", "triage"
    ADMIN = "admin", "admin"


class Token(models.Model):
    """A secret bound to one project; only its hash is kept. ``prefix`` lets a person tell tokens apart."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, validators=[RegexValidator(r"\S")])
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope))
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class AuditEntry(models.Model):
    """A change: who, what, when and why. Written in the transaction of the change itself."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="audit_entries")
    at = models.DateTimeField(default=timezone.now)
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    token = models.ForeignKey(Token, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    action = models.CharField(max_length=50)
    subject = models.CharField(max_length=300)
    reason = models.TextField(blank=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["project", "-at"], name="audit_by_project")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
