"""What today's code makes of fixed inputs: identities, digests, names, files and decisions.

Each function returns one fixture as JSON. ``record_values`` stores them, and the tests compare.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from golden import names
from golden.world import World

Json = Any
HERE = Path(__file__).parent
FOLDER = HERE / "values"
CASES: dict[str, dict[str, Any]] = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
LITERALS: dict[str, list[str]] = json.loads((HERE / "literals.json").read_text(encoding="utf-8"))

SAMPLES: dict[str, Json] = {
    "empty": {},
    "keys out of order": {"b": 1, "a": {"d": None, "c": [True, False]}},
    "floats": [0.1, 1.0, -0.0, 1e22, 1e-7, 1.5e300, 123456789.123456789],
    "integers": [0, -1, 2**53, 2**53 + 1, 10**30],
    "number and float": {"a": 1, "b": 1.0},
    "unicode": {"Zürich": "東京 😀", "e\u0301": "é", "half": "\ud83d"},
    "controls": 'a\u0000b\u001f\u2028\t\n\\"/',
    "nested": {"a": [{"b": [[[{"c": {}}]], []]}]},
    "text": "Oslo",
    "null": None,
    "tuple and set": [["x", "y"], ["a"]],
}
CALLS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("20260102-030405-0011223344556677", "r1", "book", {"guest": "Ann"}),
    ("20260102-030405-0011223344556677", "r2", "book", {"guest": "Ann"}),
    ("20260102-030405-0011223344556677", "r1", "note", {"guest": "Ann"}),
    ("run", "r1", "book", {"b": 1, "a": 2}),
    ("run", "r1", "book", {"a": 2, "b": 1}),
    ("run", "r1", "book", {"a": 2.0, "b": 1}),
    ("run", "r1", "book", {"a": 0.1, "b": 1e22, "c": -0.0, "d": 10**30}),
    ("run", "r1", "book", {"city": "Zürich 東京 😀", "e\u0301": {"deep": [None, True, {"x": []}]}}),
    ("run", "call_abc", "mail:send", {}),
]
RECURSIVE = {
    "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}},
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "required": ["root"],
}
PLAIN = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WORST = {
    "read_only": False,
    "destructive": True,
    "idempotent": False,
    "open_world": True,
    "keyed": False,
    "declared": True,
    "atomic": False,
}


def told_tool(name: str, schema: Json = PLAIN, **more: Any) -> dict[str, Any]:
    """Return the fields of a tool."""
    effects = {**WORST, **more.pop("effects", {})}
    usual = {"description": "", "output_schema": None, "source": "", "trusted": True}
    return {"name": name, "input_schema": schema, **usual, **more, "effects": effects}


TOLD: dict[str, dict[str, Any]] = {
    "plain": told_tool("weather"),
    "described": told_tool("weather", description="Weather of a city."),
    "source does not count": told_tool("weather", source="openapi x", trusted=False),
    "unicode": told_tool("wetter_zürich", description="東京 😀 e\u0301"),
    "recursive": told_tool("walk", RECURSIVE),
    "output": told_tool("weather", output_schema={"type": "object", "properties": {"sky": {}}}),
    "read only": told_tool("weather", effects={"read_only": True, "destructive": False}),
    "atomic": told_tool("weather", effects={"atomic": True}),
    "keyed": told_tool("weather", effects={"keyed": True}),
    "undeclared": told_tool("weather", effects={"declared": False}),
    "no parameters": told_tool("now", {"type": "object", "properties": {}}),
    "floats": told_tool(
        "scale", {"type": "object", "properties": {"x": {"maximum": 1e22, "default": 1.0}}}
    ),
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "rooms", "version": "1"},
    "paths": {
        "/rooms/{id}": {
            "get": {
                "operationId": "getRoom",
                "summary": "One room.",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "Größe", "in": "query", "schema": {"type": "number"}},
                ],
                "responses": {"200": {"description": "a room"}},
            },
            "delete": {"responses": {"204": {"description": "gone"}}, "parameters": []},
        },
        "/book": {
            "post": {
                "operationId": "book",
                "requestBody": {"content": {"application/json": {"schema": RECURSIVE}}},
                "responses": {"200": {"description": "booked"}},
            }
        },
    },
}
LISTED = [
    {"type": "function", "function": {"name": "a", "description": "Zürich", "parameters": PLAIN}},
    {"name": "b", "description": "anthropic", "input_schema": PLAIN},
    {"name": "c", "inputSchema": PLAIN, "annotations": {"readOnlyHint": True}},
    {"name": "d", "description": "d", "parameters": {"city": {"type": "str", "required": True}}},
]
SERVER = """
import json, sys
schema = {"type": "object", "properties": {"guest": {"type": "string"}}, "required": ["guest"]}
told = {"name": "book", "description": "Book for Zürich.", "inputSchema": schema}
told["annotations"] = {"idempotentHint": True, "title": "Book"}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    said, answer = None, {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        said = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        said["serverInfo"] = {"name": "rooms", "version": "1"}
    elif asked["method"] == "tools/list":
        said = {"tools": [told]}
    unknown = {"code": -32601, "message": "unknown"}
    answer |= {"error": unknown} if said is None else {"result": said}
    print(json.dumps(answer), flush=True)
"""


class Point(NamedTuple):
    """A place on a map."""

    x: float
    y: float = 0.0


def functions() -> list[Callable[..., Any]]:
    """Return Python functions of many kinds, besides those of the recorded runs."""

    @names.tool
    def typed(
        a: int, b: float = 1.5, c: str | None = None, *, d: list[Point] | None = None
    ) -> dict[str, int]:
        """Do something.

        Args:
            a: How many.
            b: How much.
        """
        return {}

    @names.tool(name="umlaut_ä", description="Grüße.", effects=names.WRITE)
    async def renamed(point: Point, flag: bool = False) -> Point:
        return point

    return [typed, renamed, *World().tools()]


def idempotency_keys() -> Json:
    """Keys of calls that may write, by run, call, tool and arguments."""
    return [[*call, names.idempotency_key(*call)] for call in CALLS]


def digests() -> Json:
    """Digests of values, places and seals."""
    place = names.places()
    urls = [
        "https://Host.example/Path/",
        "http://u:p@h.example/x?key=1",
        "file:///a",
        "https://h/#f",
    ]
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "key.json"
        key.write_text(json.dumps({"callwright_trust": 1, "key": "0123456789abcdef" * 4}))
        key.chmod(0o600)
        seals = {name: names.seal(Path(folder), {"value": said}) for name, said in SAMPLES.items()}
    return {
        "values": {name: names.digests_of(said) for name, said in SAMPLES.items()},
        "places": {url: place(url) for url in urls},
        "seals": seals,
        "weights": names.weights_digests(),
        "shipped": names.trusted_digests(),
        "rows": names.row_keys([names.tool_of(TOLD["described"]), names.tool_of(TOLD["unicode"])]),
        "vectors": {text: names.vector_key("minilm", 384, text) for text in ("", "Zürich", "a\0b")},
        "splits": names.splits(["a", "Zürich", "book+weather", "Weather in Oslo?", "x" * 50]),
    }


async def tools() -> Json:
    """Digests, names and pinned definitions of tools of every kind of source."""
    sources = {
        "python": names.tools_of_functions(functions()),
        "openapi": names.tools_of_document(DOCUMENT),
        "lists": names.tools_of_list(LISTED),
        "mcp": names.tools_of_server(sys.executable, "-P", "-c", SERVER),
    }
    made: dict[str, Any] = {}
    for kind, source in sources.items():
        found, pins = await names.offered(source)
        told = {one.name: names.digests_of_tool(one) for one in found}
        made[kind] = {
            "tools": told,
            "pins": {n: names.digests_of(p)["long"] for n, p in pins.items()},
        }
    plain = {name: names.tool_of(said) for name, said in TOLD.items()}
    made["fields"] = {name: names.digests_of_tool(one) for name, one in plain.items()}
    made["styles"] = {name: names.styles(one) for name, one in plain.items()}
    both = [names.tools_of_list(LISTED), names.tools_of_document(DOCUMENT)]
    made["catalogue"] = await names.catalogue_digest(both)
    made["operations"] = operations()
    return made


def operations() -> list[str]:
    """Names of tools that operations become, long ones, taken ones and nameless ones among them."""
    taken: set[str] = set()
    asked: list[tuple[str, str, Json]] = [
        ("get", "/a/{b}", {}),
        ("get", "/a/{b}", {}),
        ("post", "/ü", {}),
        ("get", "/東京", {}),
    ]
    asked += [("get", "/" + "long/" * 30, {}), ("get", "/x", {"operationId": "é" + "y" * 80})]
    return [names.openapi_name(*one, taken) for one in asked]


QUESTION = "What is the weather in Zürich?"
PARSED = '<tool_call>\n{"name": "weather", "arguments": {"town": "Zürich"}}\n</tool_call>'
OFFER = {"name": "weather", "description": "Weather of a city.", "parameters": PLAIN}
USER = {"role": "user", "content": QUESTION}
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": [USER],
        "tools": [{"type": "function", "function": OFFER}],
    },
    "/v1/responses": {"input": QUESTION, "tools": [{"type": "function", **OFFER}]},
    "/v1/messages": {
        "max_tokens": 99,
        "messages": [USER],
        "tools": [{"name": "weather", "description": OFFER["description"], "input_schema": PLAIN}],
    },
    "/api/chat": {"messages": [USER], "tools": [{"type": "function", "function": OFFER}]},
}


def upstream(stream: bool, message: dict[str, Any]) -> tuple[str, bytes]:
    """Return an upstream's answer: its content type and its body."""
    head = {"id": "chatcmpl-up", "created": 1, "model": "m"}
    if not stream:
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
        made = {**head, "object": "chat.completion", "choices": [choice]}
        return "application/json", json.dumps(made).encode()
    parts = [{"index": 0, "delta": message}, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    chunks = [{**head, "object": "chat.completion.chunk", "choices": [part]} for part in parts]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return "text/event-stream", body.encode()


def proxy() -> Json:
    """What clients of each API are sent for one parsed call, ids of calls and answers included."""
    made: dict[str, Any] = {
        "ids": {str(b): names.proxy_call_ids(b, 8) for b in (b"", b"a", b"\xff")}
    }
    for path, body in REQUESTS.items():
        for stream in (False, True):
            asked = json.dumps({"model": "m", "stream": stream, **body}, sort_keys=True).encode()
            found = names.through_proxy(path, asked, [upstream(stream, {"content": PARSED})])
            made[f"{path} {'streamed' if stream else 'whole'}"] = {
                **found,
                "body": steady(found["body"]),
            }
    made["talks"] = talks()
    return made


def native(*calls: tuple[str, str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return calls (id, tool, arguments) as OpenAI's chat style writes them."""
    return [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for id, name, given in calls
    ]


def told(id: str, content: str) -> dict[str, Any]:
    """Return the message that answers a call."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def called(*calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """Return the message of an assistant that makes calls."""
    return {"role": "assistant", "content": None, "tool_calls": native(*calls)}


SEND = {
    "name": "send_mail",
    "description": "Sends a mail.",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
}
_WRITES = {"annotations": {"readOnlyHint": False, "destructiveHint": False}}
DECLARED = [{"type": "function", "function": {**SEND, **_WRITES}}]
_UNDO = {
    "name": "unsend_mail",
    "parameters": {
        "type": "object",
        "properties": {"mail_id": {"type": "string"}},
        "required": ["mail_id"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
}
_ENTER = {
    "name": "enter",
    "parameters": {
        "type": "object",
        "properties": {"day": {"type": "string", "format": "date"}},
        "required": ["day"],
    },
}
ENTERING = [{"type": "function", "function": _ENTER}]
UNDOING = [*DECLARED, {"type": "function", "function": _UNDO}]
ZURICH, ROME = {"city": "Zürich"}, {"city": "Rome"}
FAILED = [
    m
    for n in range(3)
    for m in (called((f"c{n}", "weather", ZURICH)), told(f"c{n}", "error: down"))
]
MAIL = {"to": "ann@x.example"}
MAILED = [{"role": "user", "content": "Mail ann@x.example."}, called(("c1", "send_mail", MAIL))]
IN_VIEW = [USER, called(("c1", "weather", ZURICH)), told("c1", "rain")]


def guided(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the message in which a model that is held to a schema makes one call."""
    return {
        "content": json.dumps({"wishes": ["it"], "calls": [{"name": name, "arguments": given}]})
    }


class Talk(NamedTuple):
    """One request to the proxy, its settings, and the messages that the upstream answers with."""

    answers: list[dict[str, Any]]
    body: Mapping[str, Any] = MappingProxyType({})
    settings: Mapping[str, Any] = MappingProxyType({})


ONE = native(("c1", "weather", ZURICH))
TALKS = {
    "unpaired": Talk(
        [{"content": "It rains."}],
        {"messages": [USER, called(("c1", "weather", ZURICH)), USER, told("c9", "nobody asked")]},
    ),
    "late result": Talk(
        [{"content": "It rains."}],
        {"messages": [USER, called(("c1", "weather", ZURICH)), USER, told("c1", "rain")]},
    ),
    "repeated result": Talk(
        [{"content": "It rains."}], {"messages": [*IN_VIEW, told("c1", "rain")]}
    ),
    "no call wanted": Talk([{"tool_calls": ONE}] * 3, {"tool_choice": "none"}),
    "another call wanted": Talk(
        [{"tool_calls": ONE}] * 2,
        {"tool_choice": {"type": "function", "function": {"name": "send_mail"}}},
    ),
    "one call wanted": Talk(
        [{"tool_calls": native(("c1", "weather", ZURICH), ("c2", "weather", ROME))}],
        {"parallel_tool_calls": False},
    ),
    "equal calls": Talk(
        [{"tool_calls": native(("c1", "weather", ZURICH), ("c2", "weather", ZURICH))}]
    ),
    "equal text": Talk([{"tool_calls": ONE, "content": PARSED.replace("town", "city")}]),
    "loop": Talk(
        [{"tool_calls": native(("c9", "weather", ZURICH))}] * 2, {"messages": [USER, *FAILED]}
    ),
    "write again": Talk(
        [guided("send_mail", MAIL), {"content": "It is sent."}],
        {"messages": [*MAILED, told("c1", "sent")]},
        {"guided": "on"},
    ),
    "named day": Talk(
        [{"tool_calls": native(("c1", "enter", {"day": "2026-03-14"}))}],
        {
            "messages": [
                {"role": "system", "content": "Today is 2026-03-12."},
                {"role": "user", "content": "Enter the visit to the warehouse for tomorrow."},
            ],
            "tools": ENTERING,
        },
    ),
    "write unstated": Talk(
        [guided("send_mail", {"to": "bob@y.example"}), {"content": "To whom?"}] * 2,
        {"messages": [{"role": "user", "content": "Send a mail, please."}]},
        {"guided": "on"},
    ),
    "write again natively": Talk(
        [{"tool_calls": native(("c9", "send_mail", MAIL))}, {"content": "It is sent."}],
        {"messages": [*MAILED, told("c1", "sent")]},
    ),
    "write unstated natively": Talk(
        [
            {"tool_calls": native(("c9", "send_mail", {"to": "bob@y.example"}))},
            {"content": "To whom?"},
        ],
        {"messages": [{"role": "user", "content": "Send a mail, please."}], "tools": DECLARED},
    ),
    "write undone natively": Talk(
        [{"tool_calls": native(("c9", "unsend_mail", {"mail_id": "M-4"}))}, {"content": "Sent."}],
        {"messages": [*MAILED, told("c1", '{"mail_id": "M-4"}')], "tools": UNDOING},
    ),
    "refused": Talk(
        [{"tool_calls": native(("c1", "weather", {}))}] * 3,
        {"messages": [{"role": "user", "content": "Weather, please."}]},
        {"refused": "text"},
    ),
    "unknown tool": Talk([{"tool_calls": native(("c1", "fly_to_moon", {"q": 1}))}] * 3),
    "asked again": Talk(
        [{"content": "I do not know."}, {"tool_calls": ONE}], {"tool_choice": "required"}
    ),
    "leftovers": Talk([{"content": "It rains.<|im_end|>\n<|im_start|>assistant"}]),
    "no words": Talk(
        [{"content": "<tool_response>\n{}"}, {"content": "It rains in Zürich."}],
        {"messages": IN_VIEW},
    ),
    "no words at all": Talk([{"content": ""}, {"content": "{}"}], {"messages": IN_VIEW}),
    "guided": Talk([guided("weather", {**ZURICH, "unknown": 1})], {}, {"guided": "on"}),
}


def talks() -> Json:
    """What is changed in conversations, and in answers for what the client asked for."""
    offer = [{"type": "function", "function": one} for one in (OFFER, SEND)]
    made = {}
    for name, talk in TALKS.items():
        body = {"model": "m", "messages": [USER], "tools": offer, **talk.body}
        raw = json.dumps(body, sort_keys=True).encode()
        sent = [upstream(False, answer) for answer in talk.answers]
        found = names.through_proxy("/v1/chat/completions", raw, sent, **talk.settings)
        made[name] = {**found, "body": steady(found["body"])}
    return made


def steady(text: str) -> str:
    """Return a body without the times in it."""
    text = re.sub(r'("(?:created|created_at|completed_at)": ?)[^,}]+', r"\1TIME", text)
    return re.sub(r'("[a-z_]*duration": ?)\d+', r"\1TIME", text)


def gate() -> Json:
    """What the gate makes of calls."""
    return {name: names.gate(case) for name, case in CASES["gate"].items()}


def refined() -> Json:
    """What the rules make of replies."""
    return {name: names.refined(case) for name, case in CASES["refine"].items()}


def ordered() -> Json:
    """In which order calls are put."""
    return {name: names.ordered(case) for name, case in CASES["order"].items()}


def wire() -> Json:
    """The names that are stored or sent."""
    return names.wire_names()


def files() -> Json:
    """The files that are kept between processes, and what is read from them."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        names.written_files(place)
        found = sorted(p for p in place.rglob("*") if p.is_file() and "lock" not in p.name)
        made = {p.relative_to(place).as_posix(): content(p) for p in found}
        told = names.read_files(place)
    records, report = names.training_records(), names.report()
    return {"written": made, "read": told, "records": records, "report": report}


def content(path: Path) -> Json:
    """Return a file as text, a database as what it holds."""
    if path.suffix != ".db":
        return re.sub(r'("at": ?)\d{9,}[.\d]*', r"\1TIME", path.read_text(encoding="utf-8"))
    with closing(sqlite3.connect(path)) as database:
        schema = database.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name")
        return {
            "version": database.execute("PRAGMA user_version").fetchone()[0],
            "schema": [row[0] for row in schema],
            "rows": [
                list(row) for row in database.execute("SELECT * FROM observation ORDER BY id")
            ],
        }


def put_back(told: dict[str, Json], folder: Path) -> None:
    """Write the files that a fixture holds."""
    for name, said in told.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if path.suffix != ".db":
            path.write_text(said.replace("TIME", "1000000.0"), encoding="utf-8")
            path.chmod(0o600)
            continue
        tables = sorted(said["schema"], key=lambda sql: not sql.startswith("CREATE TABLE"))
        with closing(sqlite3.connect(path)) as database, database:
            database.executescript(";".join([*tables, f"PRAGMA user_version={said['version']}"]))
            marks = ", ".join("?" * len(said["rows"][0]))
            database.executemany(f"INSERT INTO observation VALUES ({marks})", said["rows"])


def texts() -> Json:
    """Digests of what models read: prompt files, and the texts of the rooms that speak to them."""
    prompts = {name: sha(text) for name, text in names.prompt_files().items()}
    read = {text for text in names.read_by_models() if is_sentence(text)}
    # what was on record and has moved, to a pack's data for one, stays on record
    before = json.loads((FOLDER / "texts.json").read_text(encoding="utf-8"))["spoken"]
    read |= {*before.values()} & {*names.all_texts()}
    spoken = {sha(text.encode()): text for text in read}
    return {"prompts": prompts, "spoken": {key[:16]: text for key, text in sorted(spoken.items())}}


def is_sentence(text: str) -> bool:
    """Whether a text is one that is read, and not a name, a pattern or a list of words."""
    looks = len(re.findall(r"[A-Za-z]{2,}", text)) >= 3 and " " in text
    return looks and not re.search(r"\(\?|\\[bdswW]|\[\^", text) and len(text) < 2_000


def sha(content: bytes) -> str:
    """Return the sha256 of bytes, in hex."""
    return hashlib.sha256(content).hexdigest()


FIXTURES: dict[str, Callable[[], Any]] = {
    "idempotency_keys": idempotency_keys,
    "digests": digests,
    "tools": tools,
    "proxy": proxy,
    "gate": gate,
    "refined": refined,
    "ordered": ordered,
    "wire": wire,
    "files": files,
    "texts": texts,
}


async def computed(name: str) -> Json:
    """Return one fixture as today's code makes it, as it is read back from JSON."""
    made = FIXTURES[name]()
    if name == "tools":
        made = await made
    return json.loads(json.dumps(made))


def stored(name: str) -> Json:
    """Return one fixture as it was recorded."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
