"""Rules that repair calls without a model. Every change is a listed edit."""
