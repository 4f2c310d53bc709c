from benchdash.results.controls import control_build, is_control


def test_a_control_is_told_by_a_word_of_its_build():
    assert control_build("") == "control"
    assert control_build("debug") == "debug control"
    assert control_build("debug control") == "debug control"
    assert is_control("debug control")
    assert not is_control("controlled")
    assert not is_control("")
