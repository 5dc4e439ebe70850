"""The answer as a value of a type: filled in by the model, repaired, and checked like its
statements."""

from callwright.grounding.output.fill import Evidence, Filled, Output, fill_output
from callwright.grounding.output.target import OutputTarget, open_output

__all__ = ["Evidence", "Filled", "Output", "OutputTarget", "fill_output", "open_output"]
