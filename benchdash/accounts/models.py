"""People, projects, and the tokens that act for them."""

from datetime import timedelta
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
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
    """The wish of a person to see a project on their morning page. Members see it unless they said no."""

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
    """The right of a script to act for one project: by a secret, of which the hash is kept, or by a trust.

    ``prefix`` lets a person tell secrets apart. A token that stands for a trust has neither of the two.
    """

    # Who used it just now, where that is known more exactly: "GitHub org/name, run 123". Set by a request.
    acting_as = ""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, validators=[RegexValidator(r"\S")])
    prefix = models.CharField(max_length=12, blank=True)
    # Unique where there is one.
    digest = models.CharField(max_length=64, unique=True, null=True, blank=True)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope))
    # Its results must have been measured on the machine of this name; empty: on any.
    hardware = models.CharField(max_length=100, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)  # null: never
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)" if self.prefix else self.name

    def clean(self) -> None:
        if self.hardware and not set(self.scopes) <= _BOUND_SCOPES:
            raise ValidationError(
                {"scopes": "A token that is bound to a machine uploads and reads, and does nothing else."}
            )

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def ends_soon(self) -> bool:
        """Tell whether it has at most 14 days left."""
        left = self.expires_at - timezone.now() if self.expires_at else None
        return left is not None and timedelta() < left <= _ENDS_SOON


# Who renames machines or corrects runs could undo what a token is bound to.
_BOUND_SCOPES = frozenset({Scope.READ, Scope.UPLOAD})
_ENDS_SOON = timedelta(days=14)


class Trust(models.Model):
    """A repository whose jobs act as a token, because their CI vouches for them and no secret is stored.

    Empty conditions hold for every job. ``repository`` is ``org/name`` of GitHub or the path of a project of
    GitLab; its number, which no renamed repository takes over, is filled in by the first job where nobody
    said it.
    """

    token = models.OneToOneField(Token, on_delete=models.CASCADE, related_name="trust")
    issuer = models.CharField(max_length=300)
    repository = models.CharField(
        max_length=300, validators=[RegexValidator(r"^[^\s/]+(/[^\s/]+)+$", "It is written as org/name.")]
    )
    repository_id = models.CharField(max_length=30, blank=True)
    branch = models.CharField(max_length=250, blank=True)
    environment = models.CharField(max_length=250, blank=True)
    workflow = models.CharField(max_length=250, blank=True)  # the path of its file in the repository
    protected_only = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["issuer", "repository"], name="trust_by_repository")]

    def __str__(self) -> str:
        return f"{self.repository} of {self.issuer}"

    @property
    def number_of_conditions(self) -> int:
        return sum(map(bool, (self.branch, self.environment, self.workflow, self.protected_only)))


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
