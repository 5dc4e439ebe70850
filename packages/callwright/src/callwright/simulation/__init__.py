"""Tools answered by recordings or by a model, and served over HTTP."""
