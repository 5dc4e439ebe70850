from __future__ import annotations

from callwright.gateway.session.profile import Profile
from callwright.gateway.session.routes import SeenLinks, build_routes
from tests.gateway.session.offers import policy

A = Profile(
    lists={
        "prompts": [{"name": "trip"}, {"odd": 1}],
        "resources": [{"uri": "note://one"}],
        "templates": [{"uriTemplate": "city://{name}"}, {"uriTemplate": "city://no/{x}"}],
    }
)
B = Profile(
    lists={
        "prompts": [{"name": "trip"}],
        "resources": [{"uri": "note://one"}, {"uri": "note://two"}],
        "templates": [{"uriTemplate": "city://no/oslo/{x}"}],
    }
)


def test_prompts_have_their_server_s_name_and_resources_their_own() -> None:
    made = build_routes([(policy("a"), A), (policy("b"), B)])
    assert [one["name"] for one in made.list_prompts()] == ["a__trip", "b__trip"]
    assert made.prompts["b__trip"] == ("b", {"name": "trip"})
    assert [one["uri"] for one in made.list_resources()] == ["note://one", "note://two"]
    assert made.find_server("note://one") == "a"
    assert "note://one" in made.problems[0]
    assert len(made.list_templates()) == 3


def test_a_resource_of_a_template_belongs_to_the_one_that_says_most_of_it() -> None:
    made = build_routes([(policy("a"), A), (policy("b"), B)])
    assert made.find_server("city://paris") == "a"
    assert made.find_server("city://no/oslo/1") == "b"
    assert made.find_server("mail://x") == ""


def test_links_in_results_are_remembered_for_their_server() -> None:
    links = SeenLinks()
    links.note_result(
        "a",
        {
            "content": [
                {"type": "resource_link", "uri": "x://1"},
                {"type": "resource", "resource": {"uri": "x://2"}},
                {"type": "text", "text": "x://3"},
                "odd",
            ]
        },
    )
    links.note_result("b", {"content": None})
    assert [links.find_server(f"x://{n}") for n in (1, 2, 3)] == ["a", "a", ""]


def test_of_two_prompts_of_one_name_none_has_it() -> None:
    made = build_routes([(policy("a", prefix=""), A), (policy("b", prefix=""), B)])
    assert [*made.prompts] == ["a__trip", "b__trip"]
