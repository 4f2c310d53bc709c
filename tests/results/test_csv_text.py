from benchdash.results.csv_text import csv_text


def test_a_name_that_a_spreadsheet_would_calculate_stays_text_and_numbers_stay_numbers():
    text = csv_text(["version", "change"], [["=HYPERLINK(1)", -0.25], ["10.6", None]])
    assert text == "version,change\n'=HYPERLINK(1),-0.25\n10.6,\n"
