"""The parts that every server of ours has: who may use it, its log, its own pages, the rest of a
peer that failed.
"""
