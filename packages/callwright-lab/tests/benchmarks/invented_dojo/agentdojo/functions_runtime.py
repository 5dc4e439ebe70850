"""Calls, and who runs them."""


class FunctionCall:
    def __init__(self, function, args):
        self.function, self.args = function, args


class FunctionsRuntime:
    def __init__(self, tools):
        self.tools = {tool.name: tool for tool in tools}

    def run_function(self, env, name, arguments):
        if name not in self.tools:
            return "", f"ToolNotFoundError: {name}"
        try:
            return self.tools[name].run(env, **arguments), None
        except (KeyError, TypeError) as error:
            return "", f"{type(error).__name__}: {error}"
