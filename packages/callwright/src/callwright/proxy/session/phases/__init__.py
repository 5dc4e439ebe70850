"""The phases of one request: generators that yield commands and are sent events."""
