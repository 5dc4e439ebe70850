"""The journal of a run, and what a resumed run replays from it."""
