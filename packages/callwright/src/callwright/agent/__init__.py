"""The agent loop: plans, executes, repairs and answers; journals every step."""
