from __future__ import annotations

from callwright.tools.openapi.source import OpenAPISource
from callwright_lab.benchmarks.broken_tools.apis import FILM_KEY, FilmApi, MadeApi, Operation
from callwright_lab.benchmarks.broken_tools.kinds import Breakage
from callwright_lab.benchmarks.broken_tools.replies import film_number

NOW = Operation(
    "getCurrentWeather",
    "Current weather.",
    "current_weather",
    {"city": "city"},
    ["humidity:n"],
    {"city": "q"},
)
WEATHER = MadeApi("skycast", {NOW.name: NOW}, {"city": ["Oslo"]})
REPLY = {
    "200": {
        "content": {
            "application/json": {"examples": {"response": {"value": {"id": 1, "title": "x"}}}}
        }
    }
}
FILMS = {
    "openapi": "3.0.0",
    "info": {"title": "API", "version": "3"},
    "paths": {
        "/movie/latest": {"get": {"operationId": "GET_latest", "responses": REPLY}},
        "/movie/{movie_id}": {
            "parameters": [
                {"name": "movie_id", "in": "path", "required": True, "schema": {"type": "integer"}}
            ],
            "get": {"operationId": "GET_movie", "responses": REPLY},
        },
    },
}


async def test_a_missing_parameter_stands_in_the_description_and_a_wrong_schema_does_not() -> None:
    for kind, wanted in (("missing_parameter", ("q", "carrier_code")), ("wrong_schema", ("q",))):
        source = OpenAPISource(WEATHER.document({NOW.name: Breakage(kind, 0)}))  # type: ignore[arg-type]
        (tool,) = await source.open()
        assert tool.required == wanted
        await source.aclose()


def test_a_whole_api_answers_what_it_documents_and_refuses_the_rest() -> None:
    assert WEATHER.answer("/getCurrentWeather", {"q": "Oslo"}, {})[0] == 200
    assert WEATHER.answer("/getCurrentWeather", {}, {})[0] == 400
    status, body = WEATHER.answer("/getCurrentWeather", {"q": "Atlantis"}, {})
    assert status == 404 or body == {"data": None}
    assert WEATHER.answer("/other", {}, {})[0] == 404


def test_a_broken_tool_answers_as_it_is_broken_whatever_it_is_asked() -> None:
    gone = {NOW.name: Breakage("server_error", 0)}
    assert WEATHER.answer("/getCurrentWeather", {"q": "Oslo"}, gone)[0] == 500


def test_an_answer_about_another_thing_is_as_well_formed_as_the_right_one() -> None:
    city = MadeApi("skycast", {NOW.name: NOW}, {"city": ["Oslo", "Lima", "Bergen"]})
    right = city.answer("/getCurrentWeather", {"q": "Oslo"}, {})
    for variant in range(2):
        elsewhere = {NOW.name: Breakage("elsewhere", variant)}
        status, body = city.answer("/getCurrentWeather", {"q": "Oslo"}, elsewhere)
        assert (status, type(body)) == (200, type(right[1]))
        assert body != right[1]
        assert "Oslo" not in str(body)
        assert city.answer("/getCurrentWeather", {"q": "Atlantis"}, elsewhere)[0] in (404, 200)
    alone = MadeApi("skycast", {NOW.name: NOW}, {"city": ["Oslo"]})
    broken = {NOW.name: Breakage("elsewhere", 0)}
    assert alone.answer("/getCurrentWeather", {"q": "Oslo"}, broken) != right, "other facts"


def test_the_film_database_answers_about_another_film() -> None:
    films, number = FilmApi("tmdb", FILMS), film_number("Titanic")
    key = {"api_key": FILM_KEY}
    tool = films.tools["/movie/{movie_id}"]
    broken = {tool: Breakage("elsewhere", 0)}
    assert films.answer(f"/movie/{number}", key, {}) == (200, {"id": number, "title": "x"})
    status, body = films.answer(f"/movie/{number}", key, broken)
    assert status == 200
    assert isinstance(body, dict)
    assert body["id"] != number


def test_the_film_database_wants_its_key_and_fixed_paths_come_before_templates() -> None:
    films = FilmApi("tmdb", FILMS)
    key = {"api_key": FILM_KEY}
    assert films.answer("/movie/latest", {}, {})[0] == 401
    assert films.answer("/movie/latest", key, {})[0] == 200
    number = film_number("x")
    assert films.answer(f"/movie/{number}", key, {}) == (200, {"id": number, "title": "x"})
    assert films.answer("/movie/5", key, {})[0] == 404


def test_a_twin_has_its_own_names_and_the_same_data() -> None:
    twin = FilmApi("cinebase", FILMS, {"/movie/{movie_id}": ("film_profile", "All about a film.")})
    assert twin.tools == {"/movie/{movie_id}": "film_profile"}
    operation = twin.document({})["paths"]["/movie/{movie_id}"]["get"]
    assert (operation["operationId"], operation["description"]) == (
        "film_profile",
        "All about a film.",
    )


def test_members_of_a_reply_may_have_a_name_of_their_own_and_parameters_a_description() -> None:
    takes, gives = {"name": "city"}, ["city_id:id:city", "people:n"]
    find = Operation(
        "find", "Find.", "find_city", takes, gives, {"city_id": "id"}, {"name": "of the town"}
    )
    api = MadeApi("towns", {"find": find}, {"city": ["Oslo"]})
    status, body = api.answer("/find", {"name": "Oslo"}, {})
    assert status == 200
    assert '"id"' in (text := str(body).replace("'", '"'))
    assert "city_id" not in text
    operation = api.document({})["paths"]["/find"]["get"]
    assert operation["parameters"][0]["schema"] == {"type": "string", "description": "of the town"}
    assert "city_id" not in str(operation["responses"])
