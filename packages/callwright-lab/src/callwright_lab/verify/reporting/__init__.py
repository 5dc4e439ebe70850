"""Shows what a sweep found: its tables as Markdown, its page, and the evidence of each row."""
