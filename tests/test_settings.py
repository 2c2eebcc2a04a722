"""Settings: environment over file over defaults, and errors that name the cure."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_memory.errors import InvalidInputError
from mcp_memory.fuse import FUSED, GATED, PROFILES, SIGNAL_NAMES, ScopeWeights, ScoreWeights
from mcp_memory.paths import data_folder
from mcp_memory.settings import FILE_NAME, OF_A_CLIENT, Settings, as_table, for_client, load_settings, sources

WriteFile = Callable[[str], None]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCP_MEMORY_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def write_file(home: Path) -> WriteFile:
    def write(text: str) -> None:
        (home / FILE_NAME).write_text(text, encoding="utf-8")

    return write


def test_without_file_and_environment_defaults_hold(home: Path) -> None:
    settings = load_settings()
    assert settings.home == home
    assert (settings.ranking, settings.embedding_model, settings.user_id) == ("fused", "", "")
    assert settings.relevance_weights == FUSED


def test_the_file_overrides_defaults(write_file: WriteFile) -> None:
    write_file('ranking = "gated"\nfloor = 0.5\n')
    settings = load_settings()
    assert (settings.floor, settings.relevance_weights) == (0.5, GATED)


def test_the_environment_overrides_the_file(write_file: WriteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file('floor = 0.5\nuser_id = "ana"\n')
    monkeypatch.setenv("MCP_MEMORY_FLOOR", "0.25")
    settings = load_settings()
    assert (settings.floor, settings.user_id) == (0.25, "ana")


def test_arguments_override_all(write_file: WriteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file("floor = 0.5\n")
    monkeypatch.setenv("MCP_MEMORY_FLOOR", "0.25")
    assert load_settings(floor=0.75).floor == 0.75


def test_the_file_is_read_from_the_folder_that_was_given(write_file: WriteFile, tmp_path: Path) -> None:
    write_file("floor = 0.5\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / FILE_NAME).write_text("floor = 0.75\n", encoding="utf-8")
    settings = load_settings(home=other)
    assert (settings.home, settings.floor) == (other, 0.75)


def test_the_home_folder_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("MCP_MEMORY_HOME", "~/notes")
    assert load_settings().home == tmp_path / "notes"


@pytest.mark.parametrize("blank", ["", "   "])
def test_a_blank_home_variable_means_the_platforms_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("MCP_MEMORY_HOME", blank)
    found = load_settings().home
    assert found == data_folder()
    assert found.is_relative_to(tmp_path)


def test_the_home_of_an_unknown_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInputError, match="data folder"):
        load_settings(home="~nosuchuser/x")
    monkeypatch.setenv("MCP_MEMORY_HOME", "~nosuchuser/x")
    with pytest.raises(InvalidInputError, match="data folder") as caught:
        load_settings()
    assert "MCP_MEMORY_HOME" in caught.value.hint


def test_unknown_keys_are_ignored(write_file: WriteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file('colour = "red"\n')
    monkeypatch.setenv("MCP_MEMORY_COLOUR", "red")
    assert load_settings().floor == Settings.model_fields["floor"].default


def test_loading_settings_writes_nothing(home: Path) -> None:
    load_settings()
    assert list(home.iterdir()) == []


def test_sources_say_where_each_setting_came_from(write_file: WriteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file('floor = 0.5\nuser_id = "ana"\n')
    monkeypatch.setenv("MCP_MEMORY_FLOOR", "0.25")
    found = sources(load_settings())
    assert found.keys() == Settings.model_fields.keys()
    assert found["home"] == found["floor"] == "environment"
    assert found["user_id"] == "file"
    assert found["ranking"] == "default"


def test_score_weights_come_from_their_settings(home: Path) -> None:
    settings = load_settings(weight_relevance=3, weight_importance=2, weight_recency=1)
    assert settings.score_weights == ScoreWeights(3, 2, 1)


def test_the_profile_of_chats_is_the_default(home: Path) -> None:
    assert load_settings().score_weights == PROFILES["chat"] == ScoreWeights(0.9, 0.05, 0.05, half_life_days=30)


def test_single_weights_override_the_profile(home: Path) -> None:
    settings = load_settings(profile="compliance", weight_recency=0.5, half_life_days=7)
    assert settings.score_weights == replace(PROFILES["compliance"], recency=0.5, half_life_days=7)


def test_a_weight_of_0_is_no_unset_one(home: Path) -> None:
    assert load_settings(weight_recency=0).score_weights.recency == 0


def test_the_environment_overrides_the_file_which_overrides_the_profile(
    write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file('profile = "compliance"\nweight_importance = 0.3\nweight_recency = 0.1\n')
    monkeypatch.setenv("MCP_MEMORY_WEIGHT_RECENCY", "0.2")
    assert load_settings().score_weights == replace(PROFILES["compliance"], importance=0.3, recency=0.2)
    # What the file says of single weights holds for every profile.
    monkeypatch.setenv("MCP_MEMORY_PROFILE", "retrieval")
    assert load_settings().score_weights == replace(PROFILES["retrieval"], importance=0.3, recency=0.2)


def test_scope_weights_come_from_their_settings(home: Path) -> None:
    assert load_settings().scope_weights == ScopeWeights(user=1, agent=1, other_agents=0.5, run=1)
    given = load_settings(weight_user=0.1, weight_agent=0.2, weight_other_agents=0.3, weight_run=0.4)
    assert given.scope_weights == ScopeWeights(user=0.1, agent=0.2, other_agents=0.3, run=0.4)


def test_weights_of_single_signals_override_the_rankings(
    home: Path, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file("[signal_weights]\nkeyword = 0\n")
    assert load_settings().relevance_weights == replace(FUSED, keyword=0)
    assert load_settings(ranking="gated").relevance_weights == replace(GATED, keyword=0)
    # The environment's mapping takes the place of the file's.
    monkeypatch.setenv("MCP_MEMORY_SIGNAL_WEIGHTS", '{"entity": 0.25, "exact": 0}')
    assert load_settings().relevance_weights == replace(FUSED, entity=0.25, exact=0)
    monkeypatch.setenv("MCP_MEMORY_SIGNAL_WEIGHTS", "")
    assert load_settings().relevance_weights == FUSED


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("keyword=0", "it is no JSON"),
        ("[1]", "it is no mapping"),
        ('{"colour": 1}', "there is no signal 'colour'"),
        ('{"scale": 1}', "there is no signal 'scale'"),
        ('{"keyword": -1}', "keyword is -1, not a number from 0"),
        ('{"keyword": NaN}', "keyword is nan"),
        ('{"keyword": Infinity}', "keyword is inf"),
        ('{"keyword": "1"}', "keyword is '1'"),
        ('{"keyword": true}', "keyword is True"),
        ('{"keyword": null}', "keyword is None"),
        (f'{{"keyword": {10**400}}}', "keyword is 1000"),
    ],
)
def test_a_bad_weight_of_a_signal_is_told_with_the_signals_that_there_are(
    home: Path, monkeypatch: pytest.MonkeyPatch, written: str, said: str
) -> None:
    monkeypatch.setenv("MCP_MEMORY_SIGNAL_WEIGHTS", written)
    with pytest.raises(InvalidInputError) as caught:
        load_settings()
    assert said in caught.value.message
    assert ", ".join(SIGNAL_NAMES) in caught.value.message
    assert "MCP_MEMORY_SIGNAL_WEIGHTS" in caught.value.hint


def test_a_client_brings_profile_and_weights_of_its_own(home: Path) -> None:
    engine = load_settings()
    weights = {"PROFILE": "retrieval", "WEIGHT_RECENCY": "0.5", "WEIGHT_RUN": "0", "SIGNAL_WEIGHTS": '{"keyword": 0}'}
    client = for_client(engine, {f"MCP_MEMORY_{name}": value for name, value in weights.items()})
    assert client.score_weights == replace(PROFILES["retrieval"], recency=0.5)
    assert client.scope_weights == replace(ScopeWeights(), run=0)
    assert client.relevance_weights == replace(FUSED, keyword=0)
    weighing = {name for name in Settings.model_fields if "weight" in name}
    assert weighing | {"profile", "half_life_days"} <= set(OF_A_CLIENT)


def test_the_table_shows_what_is_in_force(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_WEIGHT_RECENCY", "0.5")
    table = {name: (value, source) for name, value, source in as_table(load_settings(profile="compliance"))}
    assert table["weight_relevance"] == ("0.85", "profile compliance")
    assert table["weight_recency"] == ("0.5", "environment")
    assert table["half_life_days"] == ("30", "profile compliance")
    assert table["signal_weights"][0].startswith("semantic 1, keyword 1.5, ")
    assert table["signal_weights"][1] == "ranking fused"
    monkeypatch.setenv("MCP_MEMORY_SIGNAL_WEIGHTS", '{"keyword": 0}')
    table = {name: (value, source) for name, value, source in as_table(load_settings())}
    assert table["signal_weights"][0].startswith("semantic 1, keyword 0, ")
    assert table["signal_weights"][1] == "environment"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("floor", "much"),
        ("floor", "1.5"),
        ("floor", "nan"),
        ("half_life_days", "0"),
        ("weight_recency", "-1"),
        ("weight_recency", "inf"),
        ("weight_importance", ""),
        ("profile", "fast"),
        ("weight_run", "1.1"),
        ("weight_other_agents", "-0.1"),
        ("weight_user", "nan"),
        ("optimize_every", "0"),
        ("optimize_every", "1.5"),
        ("ranking", "best"),
        ("user_id", "a" * 201),
        ("rewrite_queries", "perhaps"),
        ("rewrite_wait_s", "0"),
        ("rewrite_wait_s", "31"),
        ("rewrite_wait_s", "nan"),
    ],
)
def test_a_bad_value_is_named_with_its_key(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"MCP_MEMORY_{name.upper()}", value)
    with pytest.raises(InvalidInputError) as caught:
        load_settings()
    assert f"setting {name} = {value!r}" in caught.value.message
    assert f"MCP_MEMORY_{name.upper()}" in caught.value.hint


def test_a_bad_value_in_the_file_is_named_with_the_file(write_file: WriteFile) -> None:
    write_file("floor = 3\n")
    with pytest.raises(InvalidInputError, match="setting floor = 3: ") as caught:
        load_settings()
    assert f"floor in {FILE_NAME}" in caught.value.hint


@pytest.mark.parametrize("text", ["floor = \n", "[floor\n", "floor 0.5"])
def test_a_file_that_is_no_toml_is_refused(write_file: WriteFile, text: str) -> None:
    write_file(text)
    with pytest.raises(InvalidInputError, match=r"settings\.toml is not valid TOML: .*line 1"):
        load_settings()


def test_a_file_that_is_not_utf_8_is_refused(home: Path) -> None:
    (home / FILE_NAME).write_bytes('user_id = "José"\n'.encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"settings\.toml is not valid TOML"):
        load_settings()


def test_settings_cannot_be_changed_afterwards(home: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().floor = 0.5  # type: ignore[misc]
