"""Contents that the conformance suite reads by name: plain tools, resources, prompts, completion.

The names, and the texts that the suite compares, are those of its scenarios.
"""

from __future__ import annotations

import base64
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x02\0\0\0\0\0"
).decode()
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def add_contents(server: MCPServer) -> None:
    """Add every plain tool, resource, prompt and the completion."""
    _add_tools(server)
    _add_special_tools(server)
    _add_resources(server)
    _add_prompts(server)

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Completion:
        return Completion(values=[f"{argument.value}-one"], total=1, has_more=False)


def _embedded(uri: str, kind: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text)
    )


def _add_tools(server: MCPServer) -> None:
    @server.tool()
    def test_simple_text() -> str:
        """Answers with one text."""
        return "This is a simple text response for testing."

    @server.tool()
    def test_image_content() -> list[ImageContent]:
        """Answers with an image."""
        return [ImageContent(type="image", data=PIXEL, mime_type="image/png")]

    @server.tool()
    def test_audio_content() -> list[AudioContent]:
        """Answers with a sound."""
        return [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]

    @server.tool()
    def test_embedded_resource() -> list[EmbeddedResource]:
        """Answers with an embedded resource."""
        said = "This is an embedded resource content."
        return [_embedded("test://embedded-resource", "text/plain", said)]

    @server.tool()
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Answers with a text, an image and an embedded resource."""
        return [
            TextContent(type="text", text="Multiple content types test:"),
            ImageContent(type="image", data=PIXEL, mime_type="image/png"),
            _embedded(
                "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
            ),
        ]

    @server.tool()
    def test_error_handling() -> str:
        """Fails."""
        raise ToolError("This tool intentionally returns an error for testing")


def _add_special_tools(server: MCPServer) -> None:
    @server.tool()
    def test_x_mcp_header(
        region: Annotated[
            str,
            Field(
                description="Also a header of the request",
                json_schema_extra={"x-mcp-header": "Region"},
            ),
        ] = "<none>",
    ) -> str:
        """Reads an argument that is sent as a header too."""
        return f"region={region}"

    @server.tool()
    async def test_missing_capability(ctx: Context) -> str:
        """Needs a client that samples."""
        offered = ctx.client_capabilities
        if offered is None or offered.sampling is None:
            raise MCPError(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                message="this tool needs the client's capability 'sampling'",
                data={"requiredCapabilities": {"sampling": {}}},
            )
        return "the client samples"

    @server.tool()
    def json_schema_2020_12_tool() -> str:
        """Has a schema with keywords of JSON Schema 2020-12."""
        return "json_schema_2020_12_tool"

    # MCPServer makes schemas from signatures only; nothing public sets one.
    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = SCHEMA_2020_12


def _add_resources(server: MCPServer) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text that never changes."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image that never changes."""
        return base64.b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        """A document for each id."""
        return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        """A text that a client may subscribe to."""
        return "Watched resource content"


def _add_prompts(server: MCPServer) -> None:
    def told(text: str) -> UserMessage:
        return UserMessage(role="user", content=TextContent(type="text", text=text))

    @server.prompt()
    def test_simple_prompt() -> list[UserMessage]:
        """A prompt without arguments."""
        return [told("This is a simple prompt for testing.")]

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
        """A prompt with two arguments."""
        return [told(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
        """A prompt that shows a resource."""
        said = "Embedded resource content for testing."
        shown = UserMessage(role="user", content=_embedded(resourceUri, "text/plain", said))
        return [shown, told("Please process the embedded resource above.")]

    @server.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        """A prompt that shows an image."""
        image = ImageContent(type="image", data=PIXEL, mime_type="image/png")
        return [UserMessage(role="user", content=image), told("Please analyze the image above.")]
