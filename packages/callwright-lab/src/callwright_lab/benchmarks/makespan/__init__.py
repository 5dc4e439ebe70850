"""How long each strategy takes with the same knowledge and scripted delays."""
