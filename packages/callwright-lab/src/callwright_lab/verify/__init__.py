"""Meta-verification (Tool-MVR, 3.2): tools, requests and trajectories are checked before they teach
anything.
"""
