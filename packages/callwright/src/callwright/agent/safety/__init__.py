"""What may leave: approval, consent, frozen plans, and where late-bound values come from."""
