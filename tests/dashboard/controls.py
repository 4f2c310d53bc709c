"""What a person does with the controls that pages share: chips of the filter line and the menu "Display"."""

from playwright.sync_api import expect


def opened_filter(page, name):
    """Open a chip, wherever it stands, and return it."""
    more, chip = page.locator("#filter-more"), page.locator(f"#filter-{name}")
    if more.locator(f"#filter-{name}").count():
        _open(more)
    _open(chip)
    return chip


def choose_display(page, label, *, of=""):
    """Choose a way to draw; ``of`` names its switch where several have the label."""
    menu = page.locator("#display")
    _open(menu)
    switch = menu.get_by_label(of, exact=True) if of else menu
    link = switch.get_by_role("link", name=label, exact=True)
    link.click()
    expect(link).to_have_attribute("aria-current", "true")


def _open(menu):
    if menu.get_attribute("open") is None:
        menu.locator("> summary").click()
