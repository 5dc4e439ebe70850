"""AgentDojo: frozen plans against injected instructions."""
