"""ACEBench: a model as the suite prompts it, with native tools, and behind the proxy."""
