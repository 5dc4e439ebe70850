"""Recovery from errors: RefineToolBench, and the desk's tasks with faults."""
