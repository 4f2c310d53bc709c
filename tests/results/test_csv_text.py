from benchdash.results.csv_text import csv_text
from benchdash.results.models import ServerVersion


def test_a_name_that_a_spreadsheet_would_calculate_stays_text_and_numbers_stay_numbers():
    text = csv_text(["version", "change"], [["=HYPERLINK(1)", -0.25], ["10.6", None]])
    assert text == "version,change\n'=HYPERLINK(1),-0.25\n10.6,\n"


def test_names_of_columns_and_of_rows_of_the_database_are_texts_too():
    version = ServerVersion(version="@SUM(1)", build="debug")
    assert csv_text(["=1+1", "run"], [[version, 7]]) == "'=1+1,run\n'@SUM(1) debug,7\n"
