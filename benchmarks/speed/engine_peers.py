"""The workload in the frameworks that people use, as their documentation says. Runs in the peers'
environment.

Neither can be run without its agent's step, so both are given one that says at once which calls to
make. Arguments are checked by the pydantic model that each makes of the same schema.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from timing import Prepare, looped
from workload import LAYERS, NAMES, QUERY, WIDTH, calls, result

Days = Annotated[int, Field(ge=1)]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")
    city: str
    days: Days = 1


def langgraph() -> Prepare:
    """An agent's node, a ToolNode with the twelve tools, and the edge between them."""
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import StructuredTool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    def made(name: str) -> StructuredTool:
        async def no_op(city: str, days: int = 1) -> dict[str, str]:
            return result(name)

        return StructuredTool.from_function(
            coroutine=no_op, name=name, description="Does nothing.", args_schema=Arguments
        )

    def agent(state: MessagesState) -> dict[str, Any]:
        layer = sum(isinstance(message, AIMessage) for message in state["messages"])
        if layer == LAYERS:
            return {"messages": [AIMessage("done")]}
        asked = [
            {"name": n, "args": a, "id": f"{layer}-{i}"} for i, (n, a) in enumerate(calls(layer))
        ]
        return {"messages": [AIMessage("", tool_calls=asked)]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode([made(name) for name in NAMES]))
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", tools_condition)
    builder.add_edge("tools", "agent")
    graph = builder.compile()

    async def run() -> None:
        state = await graph.ainvoke({"messages": [HumanMessage(QUERY)]})
        assert (
            sum(m.type == "tool" and m.status == "success" for m in state["messages"])
            == LAYERS * WIDTH
        )

    return looped(run)


def pydantic_ai() -> Prepare:
    """An agent with the twelve tools and a function for its model."""
    from pydantic_ai import Agent, Tool
    from pydantic_ai.messages import (
        ModelMessage,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def made(name: str) -> Tool[None]:
        async def no_op(city: str, days: Days = 1) -> dict[str, str]:
            return result(name)

        return Tool(no_op, name=name, description="Does nothing.")

    async def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        layer = sum(isinstance(message, ModelResponse) for message in messages)
        if layer == LAYERS:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart(name, arguments) for name, arguments in calls(layer)]
        )

    agent = Agent(FunctionModel(model), tools=[made(name) for name in NAMES])

    async def run() -> None:
        done = await agent.run(QUERY)
        parts = [part for message in done.all_messages() for part in message.parts]
        assert sum(isinstance(part, ToolReturnPart) for part in parts) == LAYERS * WIDTH

    return looped(run)


ROWS = {"LangGraph, ToolNode graph": langgraph, "pydantic-ai, agent": pydantic_ai}
