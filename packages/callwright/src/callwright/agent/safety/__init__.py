"""Controls which calls may be sent: approval, consent, frozen plans, and the sources of late-bound
values.
"""
