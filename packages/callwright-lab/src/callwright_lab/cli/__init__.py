"""Commands that the lab adds to ``callwright``: verify, explore, train, bench, convert."""
