"""Public data sets, read in place from their publishers' files."""
