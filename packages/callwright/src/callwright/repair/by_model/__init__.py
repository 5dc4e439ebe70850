"""Questions to a model about calls that no rule can repair, and the check of its answers."""
