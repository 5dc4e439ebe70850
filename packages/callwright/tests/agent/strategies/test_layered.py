"""RETO's own examples (A.9 to A.11), played with the calls and results that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright import Orchestrator, Run
from callwright.agent.strategies import Layered
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.types import READ, JsonObject, Tool
from callwright.planning.layers_to_edges import find_flows, layers_to_edges
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, offered_tools

TEXT = {"type": "string"}


def looked_up(name: str, output: Any, **properties: Any) -> FakeTool:
    return FakeTool(name, properties, output=output, effects=READ)


def action(tool: str, arguments: str) -> str:
    return f"Action: {tool}\nAction Input: {arguments}"


async def played(
    query: str, tools: list[FakeTool], layers: list[list[str]], replies: list[str], answer: str
) -> Run:
    """The strategy with plain text, as most servers behave; each reply is one layer's."""
    finish = action("Finish", f'{{"return_type": "give_answer", "final_answer": "{answer}"}}')
    model = ScriptedModel(
        {"bind": replies, "*": finish},
        capabilities=Capabilities(json_schema=False, native_tools=False),
    )
    offered = [fake_source(*tools)]
    setup = Orchestrator(
        offered, model=model, planner=FixedPlan(*layers), strategy=Layered(choose_above=9)
    )
    done = await setup.run(query)
    for request, layer in zip(
        (r for r in model.requests if r.purpose == "bind"), layers, strict=False
    ):
        assert in_view(request, tools) == {*layer}, "a layer sees its own tools and no others"
    return done


def in_view(request: ChatRequest, tools: list[FakeTool]) -> set[str]:
    _, _, shown = request.messages[-1].content.partition("Tools allowed this step: ")
    named = offered_tools(request) or shown.partition("\n")[0].split(", ")
    return {t.tool.name for t in tools if t.tool.name in named}


async def test_a9_two_layers_without_dependency_both_reach_the_answer() -> None:
    """The paper's call takes its size and colour from nowhere: optional values that nobody said do
    not leave here.
    """
    keywords = looked_up(
        "keyword_research_api",
        [{"text": "party planning decorations", "vol": 69, "score": 0.135}],
        k=TEXT,
    )
    code = looked_up("generate_a_qr_code_image", "<PNG image data>", d=TEXT)
    done = await played(
        "Can you generate QR codes for https://example.com/invitation1? I need to research popular"
        " keywords related to party planning and decorations.",
        [keywords, code],
        [["keyword_research_api"], ["generate_a_qr_code_image"]],
        [
            action("keyword_research_api", '{"k": "party planning decorations"}'),
            action("generate_a_qr_code_image", '{"d": "https://example.com/invitation1"}'),
        ],
        "Keywords: party planning decorations - 69.",
    )
    assert [(r.id, r.ok) for r in done.results] == [("r1", True), ("r2", True)]
    assert done.answer.statements[0].support == "supported"


async def test_a10_a_tool_that_the_request_does_not_need_is_skipped_with_its_reason() -> None:
    web = looked_up(
        "web_search", {"items": [{"link": "https://www.ncbi.nlm.nih.gov/pmc/7129738/"}]}, query=TEXT
    )
    images = looked_up(
        "images_search", {"items": [{"contentUrl": "https://www.mind.org.uk/look/"}]}, keyword=TEXT
    )
    mails = looked_up("emails_search", {"items": []}, query=TEXT)
    done = await played(
        "I'm writing an article about the benefits of exercise for mental health. Retrieve web"
        " search results for scientific studies on this topic. Additionally, find relevant images.",
        [web, images, mails],
        [["web_search"], ["images_search"], ["emails_search"]],
        [
            action("web_search", '{"query": "scientific studies exercise mental health"}'),
            action("images_search", '{"keyword": "exercise mental health"}'),
            "No call: nobody asked for e-mail addresses",
        ],
        "A study: https://www.ncbi.nlm.nih.gov/pmc/7129738/. An image:"
        " https://www.mind.org.uk/look/.",
    )
    assert mails.calls == []
    assert [s.tool for s in done.skips] == ["emails_search"]
    assert {c.result for s in done.answer.statements for c in s.citations} == {"r1", "r2"}


async def test_a11_the_turns_a_model_plays_itself_are_cut_and_the_answer_says_what_came() -> None:
    """A.11.1 is what the model writes in the second layer, A.11.2 what comes of it."""
    track, pack, health = (
        "get_tracking_data_for_create_container_tracking",
        "api_tracking_for_pack_send",
        "health_for_suivi_colis",
    )
    parcel = "6045e2f44e1b233199a5e77a"
    events = [
        {"status": "booked", "region": "Eldoret", "country": "Kenya"},
        {"status": "pending", "region": "Nairobi"},
    ]
    tools = [
        looked_up(health, {"status": "UP", "checks": []}),
        looked_up(track, {"status": "success", "data": {"events": events}}, is_id=TEXT),
        looked_up(
            pack, {"status": "failed", "message": "Tracking information not found"}, reference=TEXT
        ),
    ]
    invented = (
        "Human:\nThought: Now, I will use the pack_send API.\nAction:"
        ' api_tracking_for_pack_send\nAction Input: {"reference":'
        ' "ReferenceNumberHere"}Human:\nThought: I have received the data.\nAction: Finish\nAction'
        ' Input: {"return_type": "give_answer", "final_answer": "The status is delivered."}Human:'
    )
    done = await played(
        f"Track the delivery of the gift package with the tracking ID {parcel}: what is the current"
        " status? Also, fetch the information for the Pack & Send reference number"
        " 'ReferenceNumberHere'. Additionally, check the health of the suivi-colis API.",
        tools,
        [[health], [track], [pack]],
        [
            action(health, "{}"),
            action(track, f'{{"is_id": "{parcel}"}}') + invented,
            action(pack, '{"reference": "ReferenceNumberHere"}'),
        ],
        "It was booked in Eldoret, Kenya, and is pending in Nairobi. The suivi-colis API is UP.",
    )
    assert [t.calls for t in tools] == [
        [{}],
        [{"is_id": parcel}],
        [{"reference": "ReferenceNumberHere"}],
    ]
    assert next(e.data["discarded"] for e in done.events if e.data.get("discarded")).startswith(
        "Human:"
    )
    assert "delivered" not in done.answer.text
    assert "Eldoret" in done.answer.text
    assert "Tracking information not found" in " ".join(done.answer.missing), (
        "that it was not found is said"
    )
    assert done.status == "partial"


def returned(name: str) -> JsonObject:
    return {"type": "object", "properties": {name: TEXT}}


class Sharpened:
    """Three layers, in which the second and the third each wait for one tool of the first."""

    name = "sharpened"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        layers = Plan.from_layers(
            [["find_hotel", "get_weather"], ["hotel_rooms"], ["what_to_pack"]]
        )
        return layers_to_edges(layers, find_flows(query, tools))


async def test_where_barriers_are_edges_a_question_shows_all_that_is_ready_and_nothing_else() -> (
    None
):
    tools = [
        FakeTool(
            "find_hotel",
            {"city": TEXT},
            output_schema=returned("hotel_id"),
            output={"hotel_id": "h-17"},
            effects=READ,
        ),
        FakeTool(
            "get_weather",
            {"city": TEXT},
            output_schema=returned("celsius"),
            output={"celsius": "4"},
            effects=READ,
        ),
        FakeTool("hotel_rooms", {"hotel_id": TEXT}, output={"rooms": 3}, effects=READ),
        FakeTool("what_to_pack", {"celsius": TEXT}, output=["coat"], effects=READ),
    ]
    finish = action("Finish", '{"return_type": "give_answer", "final_answer": "3 rooms, a coat."}')
    first = (
        action("find_hotel", '{"city": "Oslo"}') + "\n" + action("get_weather", '{"city": "Oslo"}')
    )
    then = (
        action("hotel_rooms", '{"hotel_id": "h-17"}')
        + "\n"
        + action("what_to_pack", '{"celsius": "4"}')
    )
    model = ScriptedModel(
        {"bind": [first, then], "*": finish},
        capabilities=Capabilities(json_schema=False, native_tools=False),
    )
    setup = Orchestrator(
        [fake_source(*tools)], model=model, planner=Sharpened(), strategy=Layered(choose_above=9)
    )
    done = await setup.run("Find a hotel in Oslo, its rooms, and what to pack for the weather")
    asked = [in_view(r, tools) for r in model.requests if r.purpose == "bind"]
    assert asked == [{"find_hotel", "get_weather"}, {"hotel_rooms", "what_to_pack"}]
    assert {r.tool: r.ok for r in done.results} == {t.tool.name: True for t in tools}


async def test_a_tool_that_comes_two_layers_too_early_is_offered_until_its_value_is_there() -> None:
    """The converter's number is only there after the third layer; each layer before it names it
    useful.
    """
    tools = [
        looked_up("find", {"iata": "OSL"}, city=TEXT),
        looked_up("measure", {"gauge": "G9"}, iata=TEXT),
        looked_up("distance", {"km": 2768}, gauge=TEXT),
        looked_up("convert", {"miles": 1720}, km={"type": "number"}),
    ]
    calls = {
        "find": {"city": "Oslo"},
        "measure": {"iata": "OSL"},
        "distance": {"gauge": "G9"},
        "convert": {"km": 2768},
    }

    def told(*names: str, later: Sequence[str] = ()) -> Any:
        return {
            "useful": [*names, *later],
            "calls": [{"tool": n, "arguments": calls[n]} for n in names],
        }

    early = ["convert"]
    model = ScriptedModel(
        {
            "bind": [
                told("find", later=early),
                told("measure", later=early),
                told("distance", later=early),
                told("convert"),
            ],
            "*": {"statements": [{"text": "1,720 miles.", "results": ["r4"]}], "missing": []},
        }
    )
    planner = FixedPlan(["find", "convert"], ["measure"], ["distance"])
    setup = Orchestrator(
        [fake_source(*tools)], model=model, planner=planner, strategy=Layered(choose_above=9)
    )
    done = await setup.run("How many miles is it to Oslo?")
    assert [result.tool for result in done.results] == ["find", "measure", "distance", "convert"]


async def test_a_tool_that_never_gets_its_value_is_not_offered_for_ever() -> None:
    tools = [
        looked_up("find", {"iata": "OSL"}, city=TEXT),
        looked_up("convert", 1, km={"type": "number"}),
    ]
    made = {"tool": "find", "arguments": {"city": "Oslo"}}

    def answer(request: ChatRequest) -> Any:
        if request.purpose != "bind":
            return {
                "statements": [{"text": "The airport is OSL.", "results": ["r1"]}],
                "missing": ["the miles"],
            }
        names = in_view(request, tools)
        return {"useful": sorted(names), "calls": [made] if "find" in names else []}

    model = ScriptedModel(answer)
    planner = FixedPlan(["find", "convert"])
    setup = Orchestrator(
        [fake_source(*tools)], model=model, planner=planner, strategy=Layered(choose_above=9)
    )
    done = await setup.run("How many miles is it to Oslo?")
    assert [result.tool for result in done.results] == ["find"]
    asked = [request.purpose for request in model.requests]
    assert asked[:2] == ["bind", "bind"]
    assert asked.count("bind") == 3, "the last for what the answer lacks"
