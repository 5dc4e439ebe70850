"""StableToolBench: tasks, virtual server and the papers' tables."""
