"""Where the values of a call come from: the conversation, a result, or nowhere."""
