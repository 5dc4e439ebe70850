"""What every server of ours has in common: who may use it, its log, its listening socket."""
