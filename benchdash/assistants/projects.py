"""Which projects there are."""

from typing import Final

from benchdash.accounts.access import Viewer
from benchdash.addresses import absolute
from benchdash.assistants.shapes import (
    AnswerPart,
    Arguments,
    Limit,
    Offset,
    Tool,
    ToolAnswer,
    left_out_words,
    table,
)
from benchdash.results.models import Product


class ProjectsArguments(Arguments):
    limit: Limit = 50
    offset: Offset = 0


class ProjectAnswer(AnswerPart):
    """``figures`` is `relative` where only members see figures that are no ratios."""

    project: str
    name: str
    visibility: str
    figures: str
    products: list[str]
    url: str


class ProjectsAnswer(ToolAnswer):
    total: int
    projects: list[ProjectAnswer]
    left_out: str

    def in_words(self) -> str:
        if not self.projects:
            return (
                "You may see no project here. Public projects need no token; others need one of their own,"
                " with the scope read."
            )
        rows = [(one.project, one.name, one.figures, ", ".join(one.products)) for one in self.projects]
        return f"{table(('project', 'name', 'figures', 'products'), rows)}\n\n{self.left_out}".strip()


def _list_projects(viewer: Viewer, asked: ProjectsArguments) -> ProjectsAnswer:
    visible = viewer.projects(relative=True)
    total = visible.count()
    shown = list(visible[asked.offset : asked.offset + asked.limit])
    absolute_of = {one.pk: viewer.may_see_absolute(one) for one in shown}
    products: dict[int, list[str]] = {}
    # Whoever sees the figures of a project sees what it measures.
    listed = Product.objects.filter(project__in=absolute_of).order_by("name")
    for project, name in listed.values_list("project", "name"):
        products.setdefault(project, []).append(name)
    found = [
        ProjectAnswer(
            project=one.slug,
            name=one.name,
            visibility="public" if one.is_public else "members only",
            figures="absolute" if absolute_of[one.pk] else "relative",
            products=products.get(one.pk, [])[:_MAX_PRODUCTS],
            url=absolute("dashboard:overview", one.slug),
        )
        for one in shown
    ]
    return ProjectsAnswer(
        total=total, projects=found, left_out=left_out_words(len(found), total, offset=asked.offset)
    )


_MAX_PRODUCTS: Final = 20

LIST_PROJECTS: Final = Tool(
    name="list_projects",
    title="List projects",
    description=(
        "List the projects that you may see, with the products that each measures. Call it first: every other"
        " tool wants the slug of a project."
    ),
    arguments=ProjectsArguments,
    answers=ProjectsAnswer,
    function=_list_projects,
)
